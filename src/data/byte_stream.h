#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace bet {

// Bytes from a file or standard input, decompressed as they are read. One thread at a time.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Reads up to `size` bytes and returns how many; 0 only at the end. Throws an Error that names
  // the source, also for a damaged or truncated compressed stream.
  virtual std::size_t read(char* out, std::size_t size) = 0;
};

// Opens `path` ("-" is standard input). gzip and zstd are recognised by their first bytes, not by
// the name.
std::unique_ptr<ByteStream> open_bytes(const std::filesystem::path& path);

// The name of a source in messages: the path, or "standard input".
std::string source_name(const std::filesystem::path& path);

}  // namespace bet
