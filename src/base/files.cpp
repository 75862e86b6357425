#include "base/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace bet {
namespace {

// The path to which symbolic links lead; as it is where there are none, or where they lead nowhere.
std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as Linux has it
  std::error_code error;
  for (int links = 0; links < kMostLinks; ++links) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) return path;
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  fail(path.string(), ": too many symbolic links");
}

// Something other than a regular file or nothing at all.
bool is_special(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  BET_CHECK(!std::filesystem::is_directory(status), path.string(), ": is a folder");
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> number = 0;
  return number++;
}

// So that the new name survives a loss of power. File systems that cannot do it are left alone.
void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

std::string_view system_message() { return std::strerror(errno); }

AtomicFile::AtomicFile(std::filesystem::path path) : path_(behind_links(std::move(path))) {
  if (is_special(path_)) {
    // A rename would put a regular file in the place of the device or FIFO.
    file_.reset(std::fopen(path_.c_str(), "wb"));
  } else {
    // Never through a link, nor into a file that somebody put there or a killed process left.
    int descriptor = -1;
    do {
      temporary_ = path_;
      temporary_ += str_cat(".tmp", ::getpid(), "-", next_number());
      descriptor =
          ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    } while (descriptor < 0 && errno == EEXIST);
    if (descriptor >= 0) file_.reset(::fdopen(descriptor, "wb"));
  }
  BET_CHECK(file_ != nullptr, path_.string(), ": cannot write: ", system_message());
}

AtomicFile::~AtomicFile() {
  if (file_ == nullptr) return;
  file_.reset();
  if (temporary_.empty()) return;
  std::error_code ignored;  // a destructor cannot report that the file is left behind
  std::filesystem::remove(temporary_, ignored);
}

void AtomicFile::write(std::string_view bytes) {
  BET_CHECK(std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size(), path_.string(),
            ": cannot write: ", system_message());
}

void AtomicFile::commit() {
  BET_CHECK(std::fflush(file_.get()) == 0, path_.string(), ": cannot write: ", system_message());
  if (temporary_.empty()) return file_.reset();
  BET_CHECK(::fsync(::fileno(file_.get())) == 0, path_.string(),
            ": cannot write: ", system_message());
  BET_CHECK(std::rename(temporary_.c_str(), path_.c_str()) == 0, path_.string(), ": cannot rename ",
            temporary_.string(), ": ", system_message());
  file_.reset();
  sync_folder(path_.parent_path());
}

}  // namespace bet
