#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/option.h"

namespace bet {

// An option's name without dashes and its value. A text is quoted in a file (or written as an array
// of its bytes, where it is not UTF-8); a number or a truth value stands as it is.
struct ConfigEntry {
  std::string key;
  std::string value;
  bool quoted = true;
  Affects affects = Affects::kResult;
  bool implied = false;  // the value is Option::implied
};
// In the order in which they are written.
using Config = std::vector<ConfigEntry>;

// TOML of plain keys. Reading throws, naming file and place, on anything else.
void write_config(const Config& config, const std::filesystem::path& path);
Config read_config(const std::filesystem::path& path);

}  // namespace bet
