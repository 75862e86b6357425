#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "command_line/words.h"

namespace bet {

// Parses a program's arguments, which runs the command, and returns the exit code: 0 for success, 1
// for an error, printed to stderr as "bet: text", and 2 for arguments that cannot be parsed,
// printed to stderr with a suggestion where an option or command is misspelled. The code of a
// CLI::RuntimeError is returned as it is. `rewrite`, which may be empty, replaces the arguments
// (without the program's name) before they are parsed; it may throw.
int run_program(CLI::App& app, int argc, const char* const* argv, const Synonyms& synonyms,
                const std::function<std::vector<std::string>(std::vector<std::string>)>& rewrite);

}  // namespace bet
