#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/byte_stream.h"

namespace bet {

// A text source as blocks of whole lines, so that parsers run over plain memory without checking
// for the end of a block. Holds one block (128 KiB, or the longest line, at most 64 MiB). Throws on
// NUL bytes.
class LineBlocks {
 public:
  static constexpr std::size_t kSlack = 8;

  explicit LineBlocks(const std::filesystem::path& path);

  // The next block: whole lines, each ended by '\n' (one is added at the end of the source where it
  // is missing). Empty at the end. Valid until the next call; the kSlack bytes after it can be read
  // too. A UTF-8 byte-order mark is dropped.
  std::string_view next();

  const std::string& name() const { return name_; }

  // The number of lines in all blocks before the current one, for messages. The parser, which
  // counts lines anyway, sets it before it asks for the next block.
  std::uint64_t lines_before() const { return lines_before_; }
  void set_lines_before(std::uint64_t lines) { lines_before_ = lines; }

 private:
  std::size_t capacity() const { return buffer_.size() - kSlack; }
  void fill();
  void check_text(std::string_view block) const;

  std::string name_;
  std::unique_ptr<ByteStream> bytes_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;   // bytes of the buffer that hold data
  std::size_t given_ = 0;  // bytes of the buffer that the last next() returned
  std::uint64_t lines_before_ = 0;
  bool started_ = false;
  bool ended_ = false;
};

}  // namespace bet
