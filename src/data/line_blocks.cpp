#include "data/line_blocks.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace bet {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 17;  // stays in the cache while parsed
constexpr std::size_t kMaxLineBytes = std::size_t{1} << 26;

}  // namespace

LineBlocks::LineBlocks(const std::filesystem::path& path)
    : name_(source_name(path)), bytes_(open_bytes(path)), buffer_(kBlockBytes + kSlack) {}

void LineBlocks::fill() {
  while (used_ < capacity()) {
    const std::size_t got = bytes_->read(buffer_.data() + used_, capacity() - used_);
    if (got == 0) {
      ended_ = true;
      break;
    }
    used_ += got;
  }
}

void LineBlocks::check_text(std::string_view block) const {
  const std::size_t nul = block.find('\0');
  if (nul == std::string_view::npos) return;
  const auto line = 1 + lines_before_ + std::count(block.begin(), block.begin() + nul, '\n');
  fail(name_, ":", line, ": NUL byte; this is not a text file");
}

std::string_view LineBlocks::next() {
  used_ -= given_;
  std::memmove(buffer_.data(), buffer_.data() + given_, used_);
  given_ = 0;
  for (;;) {
    if (!ended_) fill();
    if (!started_ && std::string_view(buffer_.data(), used_).starts_with("\xef\xbb\xbf")) {
      used_ -= 3;
      std::memmove(buffer_.data(), buffer_.data() + 3, used_);
      if (!ended_) fill();
    }
    started_ = true;
    if (used_ == 0) return {};
    const void* newline = ::memrchr(buffer_.data(), '\n', used_);
    if (newline != nullptr) {
      given_ = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data()) + 1;
      break;
    }
    if (ended_) {  // the last line has no newline
      if (used_ == capacity()) buffer_.resize(buffer_.size() + 1);
      buffer_[used_++] = '\n';
      given_ = used_;
      break;
    }
    check_text({buffer_.data(), used_});
    BET_CHECK(capacity() < kMaxLineBytes, name_, ":", lines_before_ + 1, ": line longer than ",
              kMaxLineBytes, " bytes");
    buffer_.resize(2 * capacity() + kSlack);
  }
  const std::string_view block(buffer_.data(), given_);
  check_text(block);
  return block;
}

}  // namespace bet
