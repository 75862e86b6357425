// Updates of files without a graph: new rows are means of others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

#include "bet/model.h"
#include "bet/update.h"
#include "runtime/model_pair.h"
#include "runtime/row_section.h"

namespace bet {
namespace {

using test::exact_bytes;
using test::Matrix;
using test::Pair;
using test::ToyOptions;

using Neighbours = std::map<std::string, std::set<std::string>>;
using NamedPairs = std::vector<std::pair<std::string, std::string>>;

// Two new users with two known items each, one of which they share; a new item with two known
// users; one whose only user is new; and a known pair.
NamedPairs new_pairs(const Pair& pair) {
  const std::vector<std::string>& users = pair.users();
  const std::vector<std::string>& items = pair.items();
  NamedPairs pairs = {{"new a", items[0]},  {"new a", items[2]},   {"new b", items[2]},
                      {"new b", items[4]},  {users[0], "fresh 1"}, {users[4], "fresh 1"},
                      {"new b", "fresh 2"}, {"new b", "fresh 2"},  {users[3], items[3]},
                      {"lonely", "fresh 2"}};
  for (std::size_t user = 0; user < users.size(); ++user) {
    const std::set<std::string> seen = pair.seen(user);
    if (!seen.empty()) pairs.emplace_back(users[user], *seen.begin());
  }
  return pairs;
}

std::vector<NewInteraction> views_of(const NamedPairs& pairs) {
  std::vector<NewInteraction> views;
  for (const auto& [user, item] : pairs) views.push_back({user, item});
  return views;
}

// The items of each user, as sets of names.
Neighbours lists_after(const Pair& pair, const NamedPairs& added) {
  Neighbours lists;
  for (std::size_t user = 0; user < pair.users().size(); ++user) {
    lists[pair.users()[user]] = pair.seen(user);
  }
  for (const auto& [user, item] : added) lists[user].insert(item);
  return lists;
}

std::vector<double> mean_of(const Matrix& rows) {
  if (rows.empty()) return {};
  std::vector<double> mean(rows[0].size());
  for (const std::vector<double>& row : rows) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      mean[j] += row[j] / static_cast<double>(rows.size());
    }
  }
  return mean;
}

// The rows of a file by name.
struct NamedRows {
  explicit NamedRows(const Model& model) {
    for (std::uint32_t row = 0; row < model.num_users(); ++row) {
      users.emplace(model.user_id(row), model.stored_user_row(row));
    }
    for (std::uint32_t row = 0; row < model.num_items(); ++row) {
      items.emplace(model.item_id(row), model.stored_item_row(row));
    }
  }
  using Side = std::map<std::string, std::vector<float>>;
  Side users, items;
};

Matrix rows_of(const NamedRows::Side& side, const std::set<std::string>& names) {
  Matrix rows;
  for (const std::string& name : names) {
    if (const auto found = side.find(name); found != side.end()) {
      rows.emplace_back(found->second.begin(), found->second.end());
    }
  }
  return rows;
}

// Rounds the columns of a row that are not 0, and with the prefix layout those before them.
std::vector<float> as_stored(const std::vector<double>& row, const RowForm& form) {
  const std::size_t per_column = form.values_per_column;
  std::vector<std::size_t> stored;
  std::size_t end = 0;
  for (std::size_t j = 0; j < row.size(); j += per_column) {
    const bool any = std::any_of(row.begin() + static_cast<std::ptrdiff_t>(j),
                                 row.begin() + static_cast<std::ptrdiff_t>(j + per_column),
                                 [](double value) { return value != 0; });
    if (any) end = j + per_column;
    for (std::size_t i = j; any && i < j + per_column; ++i) stored.push_back(i);
  }
  if (form.layout == RowLayout::kPrefix) {
    stored.clear();
    for (std::size_t j = 0; j < end; ++j) stored.push_back(j);
  }
  std::vector<float> values;
  for (const std::size_t j : stored) values.push_back(static_cast<float>(row[j]));
  round_as_stored(values, form.precision);
  std::vector<float> whole(row.size());
  for (std::size_t i = 0; i < stored.size(); ++i) whole[stored[i]] = values[i];
  return whole;
}

double length_of_row(const std::vector<double>& row) { return std::sqrt(test::dot(row, row)); }

// The mean length of the rows whose number of neighbours has as many binary digits as that of the
// new one, or the nearest number of them, fewer first.
double typical_length(const NamedRows::Side& side, Neighbours& neighbours,
                      const std::string& name) {
  const auto digits = [&](const std::string& of) {
    int count = 0;
    for (std::size_t degree = neighbours[of].size(); degree > 0; degree /= 2) ++count;
    return count;
  };
  std::map<std::pair<int, bool>, std::vector<double>> by_distance;
  for (const auto& [other, row] : side) {
    const double length = length_of_row({row.begin(), row.end()});
    const int more = digits(other) - digits(name);
    if (length > 0) by_distance[{std::abs(more), more > 0}].push_back(length);
  }
  const std::vector<double>& nearest = by_distance.begin()->second;
  return std::accumulate(nearest.begin(), nearest.end(), 0.0) / static_cast<double>(nearest.size());
}

void expect_row(std::vector<float> found, std::vector<float> expected) {
  const std::size_t size = std::max(found.size(), expected.size());
  found.resize(size);
  expected.resize(size);
  for (std::size_t j = 0; j < size; ++j) EXPECT_NEAR(found[j], expected[j], 1e-6) << j;
}

class MeanRows : public testing::TestWithParam<ToyOptions> {
 protected:
  const Pair pair_{GetParam()};
  const NamedPairs added_ = new_pairs(pair_);
  const UpdatedModel updated_ = update_model(pair_.bytes, views_of(added_));
  const std::vector<std::byte> bytes_ = exact_bytes(updated_.file);
  const Model after_ = Model::from_bytes(bytes_);
  const NamedRows rows_before_{pair_.model};
  const NamedRows rows_after_{after_};
};

TEST_P(MeanRows, NewUsersAndItemsAreMeansOfWhatTheFileHas) {
  const FileHeader header = GetParam().header();
  Neighbours items_of = lists_after(pair_, added_);
  Neighbours users_of;
  for (const auto& [user, items] : items_of) {
    for (const std::string& item : items) users_of[item].insert(user);
  }
  const bool is_ncf = !pair_.has_vectors();
  // Of a new one with these neighbours; `next` are the neighbours of those.
  const auto expected = [&](const std::string& name, Neighbours& neighbours, Neighbours& next,
                            const NamedRows::Side& of_neighbours, const NamedRows::Side& own) {
    if (!is_ncf) {
      std::vector<double> mean = mean_of(rows_of(of_neighbours, neighbours[name]));
      const double length = length_of_row(mean);
      if (length == 0) return mean;
      const double wanted = typical_length(own, neighbours, name);
      for (double& value : mean) value *= wanted / length;
      return mean;
    }
    // Of each neighbour the mean of its neighbours that the file has.
    Matrix means;
    for (const std::string& one : neighbours[name]) {
      if (!of_neighbours.contains(one)) continue;
      const Matrix rows = rows_of(own, next[one]);
      if (!rows.empty()) means.push_back(mean_of(rows));
    }
    return mean_of(means);
  };
  for (const std::string user : {"new a", "new b", "lonely"}) {
    const std::vector<double> mean =
        expected(user, items_of, users_of, rows_before_.items, rows_before_.users);
    EXPECT_EQ(mean.empty(), user == "lonely" || (is_ncf && !GetParam().interactions)) << user;
    expect_row(rows_after_.users.at(user), as_stored(mean, header.user_form()));
  }
  for (const std::string item : {"fresh 1", "fresh 2"}) {
    const std::vector<double> mean =
        expected(item, users_of, items_of, rows_before_.users, rows_before_.items);
    expect_row(rows_after_.items.at(item), as_stored(mean, header.item_form()));
  }
}

TEST_P(MeanRows, AllOthersAreAsTheyWere) {
  for (const auto& [user, row] : rows_before_.users) expect_row(rows_after_.users.at(user), row);
  for (const auto& [item, row] : rows_before_.items) expect_row(rows_after_.items.at(item), row);
  const std::vector<std::string_view> items(pair_.items().begin(), pair_.items().end());
  for (const std::string& user : pair_.users()) {
    EXPECT_EQ(after_.scores(user, items), pair_.model.scores(user, items));
  }
  const ItemSet old_items = after_.item_set(items);
  const auto similar = after_.similar_items(items[0], 5, {.only = &old_items});
  const auto before = pair_.model.similar_items(items[0], 5);
  ASSERT_EQ(similar.size(), before.size());
  for (std::size_t i = 0; i < similar.size(); ++i) EXPECT_EQ(similar[i].score, before[i].score);
}

TEST_P(MeanRows, InteractionsAndBytesAreCounted) {
  EXPECT_EQ(updated_.new_users, 3U);
  EXPECT_EQ(updated_.new_items, 2U);
  EXPECT_EQ(updated_.table_bytes, after_.summary().table_bytes);
  EXPECT_EQ(updated_.table_bytes_before, pair_.model.summary().table_bytes);
  EXPECT_EQ(after_.summary().interactions > 0, GetParam().interactions);
  if (!GetParam().interactions) return;
  for (const auto& [user, items] : lists_after(pair_, added_)) {
    const auto seen = after_.seen_items(user);
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()), items) << user;
  }
}

TEST_P(MeanRows, AddingTheSameAgainChangesNothing) {
  const UpdatedModel again = update_model(bytes_, views_of(added_));
  EXPECT_EQ(again.new_users + again.new_items, 0U);
  if (!GetParam().interactions) return;
  EXPECT_EQ(again.file, updated_.file);
  EXPECT_EQ(again.new_interactions, 0U);
}

std::vector<ToyOptions> kinds_without_graph() {
  std::vector<ToyOptions> kinds = test::all_kinds();
  std::erase_if(kinds, [](const ToyOptions& kind) {
    return kind.serving == Serving::kGraph || kind.users < 7 || kind.items < 9;
  });
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(All, MeanRows, testing::ValuesIn(kinds_without_graph()),
                         [](const auto& kind) {
                           return test::kind_name(kind.param) + "_" + std::to_string(kind.index);
                         });

}  // namespace
}  // namespace bet
