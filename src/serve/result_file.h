#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"

namespace bet {

// A file of results that appears whole or not at all (AtomicFile), compressed with zstd if its name
// ends with .zst. Throws Error with the path.
class ResultFile {
 public:
  explicit ResultFile(const std::string& path);
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  class Compressor;
  AtomicFile file_;
  std::unique_ptr<Compressor> compressor_;  // null: not compressed
};

}  // namespace bet
