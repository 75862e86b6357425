#pragma once

#include <CLI/CLI.hpp>

namespace bet {

// Each adds its command to the parser; the command runs when the line has been parsed, writes its
// result to stdout, and throws Error for what goes wrong.
void add_recommend(CLI::App& app);
void add_inspect(CLI::App& app);
void add_verify(CLI::App& app);
void add_http(CLI::App& app);
void add_page(CLI::App& app);

}  // namespace bet
