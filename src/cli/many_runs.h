#pragma once

#include <functional>
#include <string>
#include <vector>

#include "run/many_runs.h"

namespace bet {

// Calls `work` with callbacks that show runs and one estimate of the remaining time on stderr
// (unless `quiet`), and that leave the run in progress to be continued at Ctrl-C and SIGTERM; then
// ends the command with the exit code of that.
void show_many_runs(bool quiet, const std::function<void(const CompareCallbacks&)>& work);

// Words between commas.
std::vector<std::string> words_of_list(const std::string& list);

}  // namespace bet
