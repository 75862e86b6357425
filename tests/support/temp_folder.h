#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace bet::test {

// A new empty folder, removed by the destructor.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  // Writes a file and returns its path.
  std::filesystem::path write(std::string_view name, std::string_view bytes) const;

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& path);

// The path of a real data set in ../shared/data; empty where it is missing (tests are skipped
// then).
std::filesystem::path shared_data(std::string_view name);

}  // namespace bet::test
