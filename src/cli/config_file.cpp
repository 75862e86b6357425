#include "cli/config_file.h"

#include <algorithm>

#include "base/error.h"
#include "cli/run_folder.h"

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
  const std::vector<const CLI::App*> found = app.get_subcommands(
      [&](const CLI::App* command) { return command->get_name() == arguments[0]; });
  if (found.empty()) return arguments;  // the parser says what is wrong
  const CLI::App* const command = found[0];
  std::vector<std::string> added;
  for (const ConfigEntry& entry : read_config(file)) {
    const std::string option = "--" + entry.key;
    if (entry.key == "data") {
      // The positional argument: the first word behind the command that is no option.
      if (arguments.size() < 2 || arguments[1].starts_with("--")) {
        arguments.insert(arguments.begin() + 1, entry.value);
      }
      continue;
    }
    BET_CHECK(command->get_option_no_throw(option) != nullptr, file, ": unknown key ",
              in_quotes(entry.key));
    if (!gives(arguments, option)) added.push_back(option + "=" + entry.value);
  }
  arguments.insert(arguments.end(), added.begin(), added.end());
  return arguments;
}

std::vector<std::string> resume_as_fit(std::vector<std::string> arguments) {
  if (arguments.size() < 2 || arguments[0] != "resume" || arguments[1].starts_with("-")) {
    return arguments;
  }
  const std::string run = arguments[1];
  static_cast<void>(RunFolder::open(run));
  arguments.erase(arguments.begin(), arguments.begin() + 2);
  arguments.insert(arguments.begin(),
                   {"fit", "--out=" + run, "--resume",
                    "--config=" + (std::filesystem::path(run) / "config.toml").string()});
  return arguments;
}

}  // namespace bet
