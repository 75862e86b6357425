#pragma once

#include <string>

#include "runtime/bytes.h"

namespace bet {

// A regular file mapped into memory. Throws with the path and the system's message; anything else
// than a regular file is refused at once, without waiting for a pipe's writer.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  Bytes bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

}  // namespace bet
