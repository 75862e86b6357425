#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "base/files.h"

namespace bet {
namespace {

std::string this_process() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"this machine"};
  return str_cat("process ", ::getpid(), " on ", host.data());
}

bool is_regular(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

std::optional<FileLock> FileLock::take(const std::filesystem::path& path, std::string_view text) {
  const int descriptor =
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  BET_CHECK(descriptor >= 0, path.string(), ": cannot open: ", system_message());
  FileLock lock(descriptor);
  BET_CHECK(is_regular(descriptor), path.string(), ": is not a regular file");
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::nullopt;
    // Some network file systems have no locks; one process at a time is then up to the user.
    BET_CHECK(errno == ENOLCK || errno == EOPNOTSUPP, path.string(),
              ": cannot lock: ", system_message());
  }
  const std::string content = std::string(text) + this_process() + "\n";
  const bool written =
      ::ftruncate(descriptor, 0) == 0 && ::pwrite(descriptor, content.data(), content.size(), 0) ==
                                             static_cast<ssize_t>(content.size());
  BET_CHECK(written, path.string(), ": cannot write: ", system_message());
  return lock;
}

std::string FileLock::holder(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string line;
  std::string last = "another process";
  while (std::getline(in, line)) {
    if (line.starts_with("process ")) last = line;
  }
  return last;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

}  // namespace bet
