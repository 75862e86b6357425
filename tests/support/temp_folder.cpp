#include "support/temp_folder.h"

#include <stdlib.h>

#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/files.h"

namespace bet::test {

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "bet-test-XXXXXX").string();
  BET_CHECK(::mkdtemp(name.data()) != nullptr, "cannot make ", name);
  path_ = name;
}

TempFolder::~TempFolder() {
  try {
    remove_tree(path_);
  } catch (const Error&) {  // a test may have made it unwritable; it is in the temporary folder
  }
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
