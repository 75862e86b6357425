#include "base/files.h"

#include <ftw.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace bet {

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void remove_tree(const std::filesystem::path& path) {
  constexpr int kOpenFolders = 16;
  const auto remove_one = [](const char* name, const struct stat*, int, struct FTW*) {
    return std::remove(name);
  };
  if (::nftw(path.c_str(), remove_one, kOpenFolders, FTW_DEPTH | FTW_PHYS) != 0) {
    BET_CHECK(errno == ENOENT, path.string(), ": cannot remove: ", system_message());
  }
}

std::string_view system_message() { return std::strerror(errno); }

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)), temporary_(path_) {
  temporary_ += ".tmp" + std::to_string(::getpid());
  file_.reset(std::fopen(temporary_.c_str(), "wb"));
  BET_CHECK(file_ != nullptr, path_.string(), ": cannot write: ", system_message());
}

AtomicFile::~AtomicFile() {
  if (file_ == nullptr) return;
  file_.reset();
  std::error_code ignored;  // a destructor cannot report that the file is left behind
  std::filesystem::remove(temporary_, ignored);
}

void AtomicFile::write(std::string_view bytes) {
  BET_CHECK(std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size(), path_.string(),
            ": cannot write: ", system_message());
}

void AtomicFile::commit() {
  BET_CHECK(std::fflush(file_.get()) == 0 && ::fsync(::fileno(file_.get())) == 0, path_.string(),
            ": cannot write: ", system_message());
  BET_CHECK(std::rename(temporary_.c_str(), path_.c_str()) == 0, path_.string(), ": cannot rename ",
            temporary_.string(), ": ", system_message());
  file_.reset();
}

}  // namespace bet
