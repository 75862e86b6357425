#include "support/temp_folder.h"

#include <ftw.h>
#include <stdlib.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace bet::test {

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "bet-test-XXXXXX").string();
  BET_CHECK(::mkdtemp(name.data()) != nullptr, "cannot make ", name);
  path_ = name;
}

TempFolder::~TempFolder() {
  // Not std::filesystem::remove_all: PyTorch's builds of LibTorch export an older version of it,
  // which crashes when it is called together with a newer C++ library.
  constexpr int kOpenFolders = 16;
  const auto remove_one = [](const char* name, const struct stat*, int, struct FTW*) {
    std::remove(name);  // a test may have made it unwritable; it is in the temporary folder
    return 0;
  };
  ::nftw(path_.c_str(), remove_one, kOpenFolders, FTW_DEPTH | FTW_PHYS);
}

std::filesystem::path TempFolder::write(std::string_view name, std::string_view bytes) const {
  const std::filesystem::path file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
  return file;
}

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::filesystem::path shared_data(std::string_view name) {
  const std::filesystem::path path =
      std::filesystem::path(BET_SOURCE_DIR) / "../shared/data" / name;
  return std::filesystem::exists(path) ? path : std::filesystem::path();
}

}  // namespace bet::test
