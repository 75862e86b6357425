#pragma once

#include <string>

#include "run/fit_options.h"

namespace bet {

// The line for a shell that makes the run of these options again, with every option whose value is
// not the one that budget, method, backbone and effort decide by themselves. What does not affect
// the result (threads, folders) is left out.
std::string fit_command(const FitOptions& options);

}  // namespace bet
