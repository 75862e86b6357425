#include "serve/result_file.h"

#include "base/error.h"

#ifdef BET_HAVE_ZSTD
#include <zstd.h>
#endif

namespace bet {

#ifdef BET_HAVE_ZSTD

class ResultFile::Compressor {
 public:
  explicit Compressor(AtomicFile& file) : file_(file), stream_(ZSTD_createCCtx()) {
    BET_CHECK(stream_ != nullptr, "zstd: not enough memory");
    out_.resize(ZSTD_CStreamOutSize());
  }

  void write(std::string_view bytes, ZSTD_EndDirective end) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(stream_.get(), &out, &in, end);
      BET_CHECK(ZSTD_isError(left) == 0, "zstd: ", ZSTD_getErrorName(left));
      file_.write({out_.data(), out.pos});
      if (end == ZSTD_e_end ? left == 0 : in.pos == in.size) return;
    }
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* stream) const { ZSTD_freeCCtx(stream); }
  };
  AtomicFile& file_;
  std::unique_ptr<ZSTD_CCtx, Free> stream_;
  std::string out_;
};

ResultFile::ResultFile(const std::string& path)
    : file_(path),
      compressor_(path.ends_with(".zst") ? std::make_unique<Compressor>(file_) : nullptr) {}

void ResultFile::write(std::string_view bytes) {
  if (compressor_ == nullptr) return file_.write(bytes);
  compressor_->write(bytes, ZSTD_e_continue);
}

void ResultFile::commit() {
  if (compressor_ != nullptr) compressor_->write({}, ZSTD_e_end);
  file_.commit();
}

#else

class ResultFile::Compressor {};

ResultFile::ResultFile(const std::string& path) : file_(path) {
  BET_CHECK(!path.ends_with(".zst"), path, ": this program was built without zstd");
}

void ResultFile::write(std::string_view bytes) { file_.write(bytes); }
void ResultFile::commit() { file_.commit(); }

#endif

ResultFile::~ResultFile() = default;

}  // namespace bet
