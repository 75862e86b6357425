#pragma once

#include <string>

namespace bet {

// The help text of the argument MODEL of every command.
inline constexpr const char* kModelHelp = "a model file, or a run folder with a model.bet";

// The model file that is meant: `given`, or its model.bet where it is a folder. Throws on a folder
// without one.
std::string model_path(const std::string& given);

}  // namespace bet
