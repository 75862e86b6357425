#pragma once

#include <string>

#include "runtime/bytes.h"

namespace bet {

// A file's bytes, read by the system as they are touched. Throws with path and system message.
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
