#pragma once

#include <string>

namespace bet {

// The commit that this program was built from, with "-dirty" behind it where files were changed;
// empty where the sources were not in a git repository and BET_COMMIT was not given to CMake.
std::string build_commit();

}  // namespace bet
