#pragma once

#include <span>
#include <string>

namespace bet {

// What a column of a table of interactions holds.
enum class ColumnRole { kUser, kItem, kRating, kTime };

// The column (from 0) whose name is the most common one for this role; -1 if no column has a name
// of the role. Case, '_', '-', '.', blanks and RecBole's ":type" do not matter.
int find_column(std::span<const std::string> names, ColumnRole role);

}  // namespace bet
