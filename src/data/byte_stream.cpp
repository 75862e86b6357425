#include "data/byte_stream.h"

#include <fcntl.h>
#include <unistd.h>
#ifdef BET_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef BET_HAVE_ZSTD
#include <zstd.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace bet {
namespace {

constexpr std::size_t kCompressedBlock = std::size_t{1} << 18;

// A file descriptor whose first bytes can be looked at before they are read.
class RawStream final : public ByteStream {
 public:
  explicit RawStream(const std::filesystem::path& path) : name_(source_name(path)) {
    if (path == "-") {
      descriptor_ = STDIN_FILENO;
      return;
    }
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
      fail_as(errno == ENOENT ? ErrorKind::kNotFound : ErrorKind::kBadInput, name_,
              ": cannot open: ", system_message());
    }
  }
  ~RawStream() override {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
  }
  RawStream(const RawStream&) = delete;
  RawStream& operator=(const RawStream&) = delete;

  // Up to four of the first bytes, which read() returns again.
  std::string peek() {
    while (head_.size() < 4) {
      char buffer[4];
      const std::size_t got = read_descriptor(buffer, 4 - head_.size());
      if (got == 0) break;
      head_.append(buffer, got);
    }
    return head_;
  }

  std::size_t read(char* out, std::size_t size) override {
    if (head_.empty()) return read_descriptor(out, size);
    const std::size_t count = std::min(size, head_.size());
    std::memcpy(out, head_.data(), count);
    head_.erase(0, count);
    return count;
  }

  const std::string& name() const { return name_; }

 private:
  std::size_t read_descriptor(char* out, std::size_t size) {
    for (;;) {
      const ssize_t got = ::read(descriptor_, out, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      BET_CHECK(errno == EINTR, name_, ": cannot read: ", system_message());
    }
  }

  std::string name_;
  int descriptor_ = -1;
  std::string head_;
};

#ifdef BET_HAVE_ZLIB
class GzipStream final : public ByteStream {
 public:
  explicit GzipStream(std::unique_ptr<RawStream> raw) : raw_(std::move(raw)) {
    constexpr int kGzipWindow = 15 + 16;
    BET_CHECK(inflateInit2(&state_, kGzipWindow) == Z_OK, raw_->name(), ": cannot start zlib");
  }
  ~GzipStream() override { inflateEnd(&state_); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  std::size_t read(char* out, std::size_t size) override {
    state_.next_out = reinterpret_cast<Bytef*>(out);
    state_.avail_out = static_cast<uInt>(std::min<std::size_t>(size, 1U << 30));
    const std::size_t wanted = state_.avail_out;
    while (state_.avail_out == wanted) {
      if (state_.avail_in == 0) {
        state_.avail_in = static_cast<uInt>(raw_->read(block_.data(), block_.size()));
        state_.next_in = reinterpret_cast<Bytef*>(block_.data());
        if (state_.avail_in == 0) {
          BET_CHECK(member_ended_, raw_->name(), ": gzip data is truncated");
          return 0;
        }
      }
      if (member_ended_) {  // another member follows, as in the output of `cat a.gz b.gz`
        inflateReset(&state_);
        member_ended_ = false;
      }
      const int status = inflate(&state_, Z_NO_FLUSH);
      BET_CHECK(status == Z_OK || status == Z_STREAM_END, raw_->name(),
                ": damaged gzip data: ", state_.msg != nullptr ? state_.msg : "unexpected end");
      member_ended_ = status == Z_STREAM_END;
    }
    return wanted - state_.avail_out;
  }

 private:
  std::unique_ptr<RawStream> raw_;
  std::vector<char> block_ = std::vector<char>(kCompressedBlock);
  z_stream state_{};
  bool member_ended_ = false;
};

std::unique_ptr<ByteStream> open_gzip(std::unique_ptr<RawStream> raw) {
  return std::make_unique<GzipStream>(std::move(raw));
}
#else
std::unique_ptr<ByteStream> open_gzip(const std::unique_ptr<RawStream>& raw) {
  fail(raw->name(), ": is compressed with gzip; this build of bet has no zlib to read it");
}
#endif

#ifdef BET_HAVE_ZSTD
class ZstdStream final : public ByteStream {
 public:
  explicit ZstdStream(std::unique_ptr<RawStream> raw)
      : raw_(std::move(raw)), state_(ZSTD_createDStream(), ZSTD_freeDStream) {
    BET_CHECK(state_ != nullptr, raw_->name(), ": cannot start zstd");
  }

  std::size_t read(char* out, std::size_t size) override {
    ZSTD_outBuffer output{out, size, 0};
    while (output.pos == 0) {
      if (input_.pos == input_.size && !output_pending_) {
        input_ = {block_.data(), raw_->read(block_.data(), block_.size()), 0};
        if (input_.size == 0) {
          BET_CHECK(frame_ended_, raw_->name(), ": zstd data is truncated");
          return 0;
        }
      }
      const std::size_t status = ZSTD_decompressStream(state_.get(), &output, &input_);
      BET_CHECK(!ZSTD_isError(status), raw_->name(),
                ": damaged zstd data: ", ZSTD_getErrorName(status));
      frame_ended_ = status == 0;
      output_pending_ = output.pos == output.size;  // zstd may hold more than fits
    }
    return output.pos;
  }

 private:
  std::unique_ptr<RawStream> raw_;
  std::vector<char> block_ = std::vector<char>(kCompressedBlock);
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> state_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool frame_ended_ = false;
  bool output_pending_ = false;
};

std::unique_ptr<ByteStream> open_zstd(std::unique_ptr<RawStream> raw) {
  return std::make_unique<ZstdStream>(std::move(raw));
}
#else
std::unique_ptr<ByteStream> open_zstd(const std::unique_ptr<RawStream>& raw) {
  fail(raw->name(), ": is compressed with zstd; this build of bet has no libzstd to read it");
}
#endif

}  // namespace

std::string source_name(const std::filesystem::path& path) {
  return path == "-" ? "standard input" : path.string();
}

std::unique_ptr<ByteStream> open_bytes(const std::filesystem::path& path) {
  auto raw = std::make_unique<RawStream>(path);
  const std::string head = raw->peek();
  if (head.starts_with("\x1f\x8b")) return open_gzip(std::move(raw));
  if (head == "\x28\xb5\x2f\xfd") return open_zstd(std::move(raw));
  return raw;
}

}  // namespace bet
