#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "train/user_hits.h"

namespace bet {

// test_hits.csv of a run folder: where the held-out items of each user are in the ranking of the
// model file, for comparisons of runs user by user. A line of names, then a line for each user who
// has test items, in the order of ids: the number of them, and the ranks from 1 to 20 at which one
// was found ("4,1 7 20").
void write_test_hits(std::span<const UserHits> users, const std::filesystem::path& path);

// Throws, naming the line, on anything else.
std::vector<UserHits> read_test_hits(const std::filesystem::path& path);

}  // namespace bet
