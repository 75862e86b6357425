#include "runtime/mean_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace bet {
namespace {

using Lists = std::vector<std::vector<std::uint32_t>>;

// Adds up rows and divides by their number.
class Mean {
 public:
  explicit Mean(std::size_t width) : sum_(width) {}

  void add(std::span<const float> values) {
    for (std::size_t j = 0; j < values.size(); ++j) sum_[j] += double{values[j]};
    ++count_;
  }
  // Zeros where there were none.
  std::vector<float> get() const {
    std::vector<float> mean(sum_.size());
    for (std::size_t j = 0; count_ > 0 && j < mean.size(); ++j) {
      mean[j] = static_cast<float>(sum_[j] / static_cast<double>(count_));
    }
    return mean;
  }
  bool is_empty() const { return count_ == 0; }

 private:
  std::vector<double> sum_;
  std::uint64_t count_ = 0;
};

std::vector<float> decoded(const RowSection& rows, std::uint32_t row) {
  std::vector<float> values(rows.width());
  rows.decode(row, values);
  return values;
}

// The neighbours of the new rows of a side that the file has.
Lists known_items_of(const RowsBefore& before, std::uint32_t new_users) {
  Lists lists(new_users);
  for (std::uint32_t i = 0; i < new_users; ++i) {
    for (const std::uint32_t item : before.items_of[before.header.num_users + i]) {
      if (item < before.header.num_items) lists[i].push_back(item);
    }
  }
  return lists;
}

Lists known_users_of(const RowsBefore& before, std::uint32_t new_items) {
  Lists lists(new_items);
  for (std::uint32_t user = 0; user < before.header.num_users; ++user) {
    for (const std::uint32_t item : before.items_of[user]) {
      if (item >= before.header.num_items) lists[item - before.header.num_items].push_back(user);
    }
  }
  return lists;
}

double row_length(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) squares += double{value} * double{value};
  return std::sqrt(squares);
}

// How long the rows of a side are: with dot products long items are recommended to many, and they
// have many interactions.
class TypicalLengths {
 public:
  // `degrees`: interactions of each row.
  TypicalLengths(const RowSection& rows, std::span<const std::uint32_t> degrees) {
    for (std::uint32_t row = 0; row < rows.num_rows(); ++row) {
      const double length = row_length(decoded(rows, row));
      if (length == 0) continue;
      Lengths& lengths = by_bits_.at(static_cast<std::size_t>(std::bit_width(degrees[row])));
      lengths.sum += length;
      ++lengths.count;
    }
  }

  // The mean length of rows with about as many interactions: of those whose number has as many
  // binary digits, or else the closest number of them, fewer first. 0 if all are empty.
  double of(std::uint32_t degree) const {
    const auto bits = static_cast<std::size_t>(std::bit_width(degree));
    for (std::size_t away = 0; away < by_bits_.size(); ++away) {
      for (const std::size_t found : {bits - away, bits + away}) {
        if (found >= by_bits_.size() || by_bits_.at(found).count == 0) continue;
        return by_bits_.at(found).sum / static_cast<double>(by_bits_.at(found).count);
      }
    }
    return 0;
  }

 private:
  struct Lengths {
    double sum = 0;
    std::uint64_t count = 0;
  };
  std::array<Lengths, 33> by_bits_{};
};

// The mean of the rows of their neighbours, as long as rows of their own side are.
std::vector<std::vector<float>> means_of_neighbours(const Lists& neighbours, const RowSection& rows,
                                                    const TypicalLengths& lengths,
                                                    std::span<const std::uint32_t> degrees) {
  std::vector<std::vector<float>> means;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    Mean mean(rows.width());
    for (const std::uint32_t row : neighbours[i]) mean.add(decoded(rows, row));
    std::vector<float> values = mean.get();
    const double length = row_length(values);
    const double wanted = lengths.of(degrees[i]);
    for (float& value : values) {
      if (length > 0) value = static_cast<float>(double{value} * wanted / length);
    }
    means.push_back(std::move(values));
  }
  return means;
}

// Interactions of all users, the new ones last.
std::vector<std::uint32_t> user_degrees(const RowsBefore& before) {
  std::vector<std::uint32_t> degrees;
  for (const std::vector<std::uint32_t>& list : before.items_of) {
    degrees.push_back(static_cast<std::uint32_t>(list.size()));
  }
  return degrees;
}

std::vector<std::uint32_t> item_degrees(const RowsBefore& before, std::uint32_t new_items) {
  std::vector<std::uint32_t> degrees(std::size_t{before.header.num_items} + new_items);
  for (const std::vector<std::uint32_t>& list : before.items_of) {
    for (const std::uint32_t item : list) ++degrees[item];
  }
  return degrees;
}

// The means of what `of_neighbour` has; neighbours that it does not have are left out.
std::vector<std::vector<float>> means_of_means(const Lists& neighbours,
                                               const std::map<std::uint32_t, Mean>& of_neighbour,
                                               std::size_t width) {
  std::vector<std::vector<float>> means;
  for (const std::vector<std::uint32_t>& list : neighbours) {
    Mean mean(width);
    for (const std::uint32_t row : list) {
      const Mean& own = of_neighbour.at(row);
      if (!own.is_empty()) mean.add(own.get());
    }
    means.push_back(mean.get());
  }
  return means;
}

std::map<std::uint32_t, Mean> empty_means(const Lists& neighbours, std::size_t width) {
  std::map<std::uint32_t, Mean> means;
  for (const std::vector<std::uint32_t>& list : neighbours) {
    for (const std::uint32_t row : list) means.emplace(row, Mean(width));
  }
  return means;
}

// Each column of a row has `per_column` values; those that are not all 0 are stored, and with the
// prefix layout all before them.
std::vector<std::uint32_t> columns_to_store(std::span<const float> row, const RowForm& form) {
  const std::uint32_t per_column = form.values_per_column;
  std::vector<std::uint32_t> columns;
  for (std::uint32_t column = 0; std::size_t{column} * per_column < row.size(); ++column) {
    const auto values = row.subspan(std::size_t{column} * per_column, per_column);
    if (std::any_of(values.begin(), values.end(), [](float value) { return value != 0; })) {
      columns.push_back(column);
    }
  }
  if (form.layout == RowLayout::kPrefix && !columns.empty()) {
    columns.resize(std::size_t{columns.back()} + 1);
    std::iota(columns.begin(), columns.end(), 0U);
  }
  return columns;
}

NewRows encode(const std::vector<std::vector<float>>& means, const RowForm& form) {
  std::vector<std::vector<std::uint32_t>> columns;
  columns.reserve(means.size());
  for (const std::vector<float>& row : means) columns.push_back(columns_to_store(row, form));
  NewRows rows;
  rows.order.resize(means.size());
  std::iota(rows.order.begin(), rows.order.end(), 0U);
  std::stable_sort(rows.order.begin(), rows.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return columns[a].size() > columns[b].size();
  });
  RowsToStore to_store;
  to_store.stride = means.empty() ? 0 : means[0].size();
  std::vector<float> values;
  for (const std::uint32_t index : rows.order) {
    values.insert(values.end(), means[index].begin(), means[index].end());
    to_store.sizes.push_back(static_cast<std::uint32_t>(columns[index].size()));
    if (form.layout == RowLayout::kMasked) to_store.columns.push_back(columns[index]);
  }
  to_store.values = values;
  rows.bytes = encode_rows(to_store, form);
  return rows;
}

bool has_vectors(const RowsBefore& before) { return before.header.traits().dot_product; }

}  // namespace

NewRows mean_user_rows(const RowsBefore& before, std::uint32_t new_users) {
  const Lists items = known_items_of(before, new_users);
  const RowForm form = before.header.user_form();
  if (has_vectors(before)) {
    const std::vector<std::uint32_t> degrees = user_degrees(before);
    return encode(means_of_neighbours(items, before.items, TypicalLengths(before.users, degrees),
                                      std::span(degrees).subspan(before.header.num_users)),
                  form);
  }
  std::map<std::uint32_t, Mean> means = empty_means(items, before.users.width());
  for (std::uint32_t user = 0; user < before.header.num_users; ++user) {
    const std::vector<float> row = decoded(before.users, user);
    for (const std::uint32_t item : before.items_of[user]) {
      if (const auto found = means.find(item); found != means.end()) found->second.add(row);
    }
  }
  return encode(means_of_means(items, means, before.users.width()), form);
}

NewRows mean_item_rows(const RowsBefore& before, std::uint32_t new_items) {
  const Lists users = known_users_of(before, new_items);
  const RowForm form = before.header.item_form();
  if (has_vectors(before)) {
    const std::vector<std::uint32_t> degrees = item_degrees(before, new_items);
    return encode(means_of_neighbours(users, before.users, TypicalLengths(before.items, degrees),
                                      std::span(degrees).subspan(before.header.num_items)),
                  form);
  }
  std::map<std::uint32_t, Mean> means = empty_means(users, before.items.width());
  for (auto& [user, mean] : means) {
    for (const std::uint32_t item : before.items_of[user]) {
      if (item < before.header.num_items) mean.add(decoded(before.items, item));
    }
  }
  return encode(means_of_means(users, means, before.items.width()), form);
}

NewRows empty_rows(std::uint32_t count, const RowForm& form) {
  return encode(std::vector<std::vector<float>>(count), form);
}

}  // namespace bet
