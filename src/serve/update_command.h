#pragma once

#include <CLI/CLI.hpp>

namespace bet {

// `update`, a command of `bet` and of `bet-serve`: adds interactions of a file to a model file.
void add_update(CLI::App& app);

}  // namespace bet
