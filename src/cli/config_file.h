#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace bet {

// The command line with the options of its --config file added where it does not give them itself,
// and the file's data where it names none. Throws on a key that the command does not know.
std::vector<std::string> with_config_file(const CLI::App& app, std::vector<std::string> arguments);

// `resume RUN` as the `fit` that continues it; any other line as it is.
std::vector<std::string> resume_as_fit(const CLI::App& app, std::vector<std::string> arguments);

}  // namespace bet
