#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "command_line/words.h"

namespace bet {

// Parses a program's words (without its name), which runs the command, and returns the exit code:
// 0; 1 for an error, said on stderr as "bet: what"; 2 for a line that is not understood, said on
// stderr with the word and the nearest known one. A CLI::RuntimeError's code is returned as it is.
// `rewrite`, which may be empty, makes another line of the words first and may throw.
int run_program(CLI::App& app, int argc, const char* const* argv, const Synonyms& synonyms,
                const std::function<std::vector<std::string>(std::vector<std::string>)>& rewrite);

}  // namespace bet
