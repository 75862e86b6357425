#pragma once

#include <string>
#include <vector>

namespace bet {

// The ids in a text file, one a line; empty lines are skipped, and a line may end with CR LF.
// Throws Error, with the path, if the file cannot be read.
std::vector<std::string> read_id_lines(const std::string& path);

}  // namespace bet
