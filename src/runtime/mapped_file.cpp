#include "runtime/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"

namespace bet {

MappedFile::MappedFile(const std::string& path) {
  // Non-blocking: opening a pipe of this name must not wait for its writer.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  BET_CHECK(file >= 0, path, ": ", system_message());
  struct ::stat status {};
  const bool plain = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  void* memory = MAP_FAILED;
  if (plain && status.st_size > 0) {
    memory =
        ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  }
  const std::string message(system_message());
  ::close(file);
  BET_CHECK(plain, path, ": is not a regular file");
  if (status.st_size == 0) return;
  BET_CHECK(memory != MAP_FAILED, path, ": ", message);
  bytes_ = {static_cast<const std::byte*>(memory), static_cast<std::size_t>(status.st_size)};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace bet
