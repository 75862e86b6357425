#pragma once

#include <CLI/CLI.hpp>

namespace bet {

// Each adds its command to the parser; the command runs when the line has been parsed, writes its
// result to stdout, and throws Error for what goes wrong.
void add_data_stats(CLI::App& data);
void add_data_synth(CLI::App& data);
void add_data_list(CLI::App& data);
void add_data_get(CLI::App& data);
void add_fit(CLI::App& app);
void add_compare(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_experiment(CLI::App& app);
void add_export(CLI::App& app);
void add_plan(CLI::App& app);
void add_report(CLI::App& app);
void add_resume(CLI::App& app);

}  // namespace bet
