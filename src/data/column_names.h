#pragma once

#include <span>
#include <string>

namespace bet {

// What a column of a table of interactions is.
enum class ColumnRole { kUser, kItem, kRating, kTime };

// The column (from 0) with the most usual name of this role; -1 if no name is known for it. Case,
// '_', '-', '.', blanks and RecBole's ":type" do not matter.
int find_column(std::span<const std::string> names, ColumnRole role);

}  // namespace bet
