#include "cli/config_file.h"

#include <algorithm>

#include "base/error.h"
#include "command_line/words.h"
#include "run/config.h"
#include "run/option_table.h"
#include "run/run_folder.h"

namespace bet {
namespace {

// The value of --name, given as two words or with '='; empty if it is not there.
std::string value_of(const std::vector<std::string>& arguments, const std::string& option) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with(option + "=")) return arguments[i].substr(option.size() + 1);
    if (arguments[i] == option && i + 1 < arguments.size()) return arguments[i + 1];
  }
  return "";
}

bool gives(const std::vector<std::string>& arguments, const std::string& option) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return argument == option || argument.starts_with(option + "=");
  });
}

}  // namespace

std::vector<std::string> with_config_file(const CLI::App& app, std::vector<std::string> arguments) {
  const std::string file = value_of(arguments, "--config");
  if (file.empty() || arguments.empty()) return arguments;
  const CLI::App* const command = find_command(app, arguments[0]);
  // The parser reports what is wrong with such a line.
  if (command == nullptr || command->get_option_no_throw("--config") == nullptr) return arguments;
  const bool has_data = !positional_places(*command, arguments, 1).empty();
  std::vector<std::string> added;
  for (const ConfigEntry& entry : read_config(file)) {
    const std::string option = "--" + entry.key;
    if (entry.key == "data") {
      if (!has_data) arguments.insert(arguments.begin() + 1, entry.value);
      continue;
    }
    BET_CHECK(command->get_option_no_throw(option) != nullptr, file, ": unknown key ",
              in_quotes(entry.key));
    if (!gives(arguments, option)) added.push_back(option + "=" + entry.value);
  }
  arguments.insert(arguments.end(), added.begin(), added.end());
  return arguments;
}

std::vector<std::string> resume_as_fit(const CLI::App& app, std::vector<std::string> arguments) {
  if (arguments.empty() || arguments[0] != "resume") return arguments;
  if (gives(arguments, "--help") || gives(arguments, "-h")) return arguments;
  const CLI::App* const fit = find_command(app, "fit");
  const std::vector<std::size_t> places = positional_places(*fit, arguments, 1);
  // No run, or more than one: the parser of `resume` reports it.
  if (places.size() != 1) return arguments;
  const RunFiles run = RunFolder::find(arguments[places[0]]);
  arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(places[0]));
  arguments[0] = "fit";
  arguments.insert(arguments.begin() + 1, {"--out=" + run.folder.string(), "--resume",
                                           "--config=" + run.config().string()});
  // A run from before an option did what is implied, and not what is the default now.
  const Config config = read_config(run.config());
  for (const Option<FitOptions>& option : fit_option_table()) {
    const bool is_set = std::ranges::find(config, option.name, &ConfigEntry::key) != config.end();
    if (!option.implied || is_set || gives(arguments, "--" + option.name)) continue;
    arguments.push_back("--" + option.name + "=" + *option.implied);
  }
  return arguments;
}

}  // namespace bet
