#include "serve/id_lines.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "base/files.h"

namespace bet {

std::vector<std::string> read_id_lines(const std::string& path) {
  std::error_code ignored;  // opening the file reports what is wrong
  BET_CHECK(!std::filesystem::is_directory(path, ignored), path,
            ": is a folder, expected a file with one id a line");
  std::ifstream file(path, std::ios::binary);
  BET_CHECK(file.is_open(), path, ": ", system_message());
  std::vector<std::string> ids;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) ids.push_back(std::move(line));
  }
  BET_CHECK(!file.bad(), path, ": ", system_message());
  return ids;
}

}  // namespace bet
