#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace bet {

// Bytes from a file or standard input, decompressed on the way. One reader at a time.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Fills up to `size` bytes and returns how many; 0 only at the end. Throws Error naming the
  // source, for a damaged or cut-off compressed stream too.
  virtual std::size_t read(char* out, std::size_t size) = 0;
};

// Opens `path` ("-" is standard input); gzip and zstd are recognised by their first bytes,
// whatever the name.
std::unique_ptr<ByteStream> open_bytes(const std::filesystem::path& path);

// What messages call this source: the path, or "standard input".
std::string source_name(const std::filesystem::path& path);

}  // namespace bet
