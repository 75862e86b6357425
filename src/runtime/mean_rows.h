#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/model_file.h"
#include "runtime/row_section.h"

namespace bet {

// The rows of users and items that are new to a file without a graph.
struct NewRows {
  std::string bytes;                 // a section of the file's form (docs/format.md)
  std::vector<std::uint32_t> order;  // by row of the section: which of the new ones it is
};

// What the means are taken of. New users and items have the rows after those of the file.
struct RowsBefore {
  const FileHeader& header;  // of the file as it was
  const RowSection& users;
  const RowSection& items;
  std::span<const std::vector<std::uint32_t>> items_of;  // by user, new ones among them
};

// A new user gets the mean of the rows of its items, a new item that of its users, in as many
// columns as these have and as long as rows of the file with about as many interactions are on
// average: the two sides need not be equally long, and a mean is short. With ncf, where a user's
// row says nothing as an item's, it is the mean of the same side instead: of its items' users (for
// each item the mean of them), or of its users' items. Only rows of the file are neighbours;
// without any the row is empty.
NewRows mean_user_rows(const RowsBefore& before, std::uint32_t new_users);
NewRows mean_item_rows(const RowsBefore& before, std::uint32_t new_items);

// Rows of which nothing is stored.
NewRows empty_rows(std::uint32_t count, const RowForm& form);

}  // namespace bet
