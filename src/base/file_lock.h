#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace bet {

// A lock between processes (flock) on a file that is made where missing and never removed. It ends
// with the process, however that ends. Threads of one process exclude each other as well.
class FileLock {
 public:
  // None if somebody else holds it. While it is held the file has `text`, then a line that names
  // this process. Throws where the file cannot be opened or is not a regular file.
  static std::optional<FileLock> take(const std::filesystem::path& path,
                                      std::string_view text = "");

  // Who holds it, or held it last: "process 123 on host".
  static std::string holder(const std::filesystem::path& path);

  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

}  // namespace bet
