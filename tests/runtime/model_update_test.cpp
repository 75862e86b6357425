#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "bet/model.h"
#include "bet/update.h"
#include "runtime/model_file.h"
#include "runtime/model_pair.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::dot;
using test::error_of;
using test::exact_bytes;
using test::Matrix;
using test::Pair;
using test::ToyOptions;

constexpr double kUpdateTolerance = 2e-5;

// An updated model, and the memory that it lies in.
struct Updated {
  Updated(const Pair& pair, std::span<const NewInteraction> interactions)
      : result(update_model(pair.bytes, interactions)),
        bytes(exact_bytes(result.file)),
        model(Model::from_bytes(bytes)) {}
  UpdatedModel result;
  std::vector<std::byte> bytes;
  Model model;
};

// What is added to a toy: two new users and two new items; one of the pairs is known, one is there
// twice, one is of old ones that had no interactions.
std::vector<NewInteraction> additions(const Pair& pair) {
  const std::vector<std::string>& users = pair.users();
  const std::vector<std::string>& items = pair.items();
  std::size_t busy = 0;
  while (pair.toy.model.items_of[busy].empty()) ++busy;
  const std::string& known = items[pair.toy.model.items_of[busy][0]];
  return {{"new b", items[2]},   {"new b", "fresh 2"}, {users[busy], known},
          {users[3], "fresh 1"}, {"new a", "fresh 1"}, {users.back(), items.back()},
          {"new a", items[0]},   {"new b", "fresh 2"}};
}

// The rows as stored, in the order of the data, and two empty ones.
template <typename RowOf>
Matrix rows_of(const Pair& pair, const std::vector<std::string>& ids, std::uint32_t count,
               const RowOf& row_of) {
  Matrix rows(ids.size() + 2, std::vector<double>(pair.toy.model.users.stride));
  for (std::uint32_t row = 0; row < count; ++row) {
    const auto& [id, values] = row_of(row);
    std::copy(values.begin(), values.end(), rows[Pair::index_of(ids, id)].begin());
  }
  return rows;
}

void expect_near_values(const std::vector<float>& found, const std::vector<double>& expected) {
  ASSERT_GE(expected.size(), found.size());
  for (std::size_t j = 0; j < expected.size(); ++j) {
    ASSERT_NEAR(j < found.size() ? found[j] : 0.0F, expected[j], kUpdateTolerance);
  }
}

class ModelUpdate : public testing::TestWithParam<ToyOptions> {};

TEST_P(ModelUpdate, HasTheVectorsOfTheGraphWithEmptyRowsForTheNewOnes) {
  const Pair pair(GetParam());
  const std::vector<NewInteraction> added = additions(pair);
  const Updated updated(pair, added);
  EXPECT_EQ(updated.result.new_users, 2U);
  EXPECT_EQ(updated.result.new_items, 2U);
  EXPECT_EQ(updated.result.new_interactions, 6U);
  EXPECT_EQ(updated.result.known_interactions, 2U);

  std::vector<std::string> users = pair.users();
  users.insert(users.end(), {"new a", "new b"});
  std::vector<std::string> items = pair.items();
  items.insert(items.end(), {"fresh 1", "fresh 2"});
  ModelToWrite by_hand = pair.toy.model;
  by_hand.items_of.resize(users.size());
  for (const NewInteraction& one : added) {
    std::vector<std::uint32_t>& list = by_hand.items_of[Pair::index_of(users, one.user)];
    const auto item = static_cast<std::uint32_t>(Pair::index_of(items, one.item));
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
  }
  const Model& old = pair.model;
  const test::Vectors vectors = test::vectors_by_hand(
      by_hand,
      rows_of(
          pair, pair.users(), old.num_users(),
          [&](std::uint32_t row) { return std::pair(old.user_id(row), old.stored_user_row(row)); }),
      rows_of(pair, pair.items(), old.num_items(), [&](std::uint32_t row) {
        return std::pair(old.item_id(row), old.stored_item_row(row));
      }));

  const Model& model = updated.model;
  ASSERT_EQ(model.num_users(), users.size());
  ASSERT_EQ(model.num_items(), items.size());
  for (std::size_t user = 0; user < users.size(); ++user) {
    expect_near_values(model.user_vector(users[user]), vectors.users[user]);
    std::set<std::string_view> seen;
    for (const std::uint32_t item : by_hand.items_of[user]) seen.insert(items[item]);
    const std::vector<std::string_view> found = model.seen_items(users[user]);
    EXPECT_EQ(std::set<std::string_view>(found.begin(), found.end()), seen);
  }
  for (std::size_t item = 0; item < items.size(); ++item) {
    expect_near_values(model.item_vector(items[item]), vectors.items[item]);
    for (const ScoredItem& similar : model.similar_items(items[item], 3)) {
      const std::vector<double>& a = vectors.items[item];
      const std::vector<double>& b = vectors.items[Pair::index_of(items, similar.item)];
      const double lengths = std::sqrt(dot(a, a) * dot(b, b));
      if (lengths < 1e-3) continue;  // the stored lengths have few digits
      EXPECT_NEAR(similar.score, dot(a, b) / lengths, 4e-3);
    }
  }
}

TEST_P(ModelUpdate, KeepsTheBytesOfTheTableAndTheOrderOfTheRows) {
  const Pair pair(GetParam());
  const Updated updated(pair, additions(pair));
  EXPECT_EQ(updated.model.summary().table_bytes, pair.model.summary().table_bytes);
  EXPECT_EQ(updated.result.table_bytes, pair.model.summary().table_bytes);
  EXPECT_EQ(updated.model.summary().params, pair.model.summary().params);
  const FileParts before = read_parts(pair.bytes, true);
  const FileParts after = read_parts(updated.bytes, true);
  for (const SectionKind kind : {SectionKind::kUserRows, SectionKind::kItemRows}) {
    const Bytes old_rows = before.section(kind);
    const Bytes new_rows = after.section(kind);
    ASSERT_EQ(old_rows.size(), new_rows.size());
    EXPECT_EQ(std::memcmp(old_rows.data() + 4, new_rows.data() + 4, old_rows.size() - 4), 0);
  }
  for (std::uint32_t row = 0; row < pair.model.num_users(); ++row) {
    EXPECT_EQ(pair.model.user_id(row), updated.model.user_id(row));
  }
}

std::vector<ToyOptions> kinds_by_graph() {
  std::vector<ToyOptions> kinds = test::all_kinds();
  std::erase_if(kinds, [](const ToyOptions& kind) {
    return kind.serving != Serving::kGraph || kind.users < 7 || kind.items < 9;
  });
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(All, ModelUpdate, testing::ValuesIn(kinds_by_graph()),
                         [](const auto& kind) {
                           return test::kind_name(kind.param) + "_" + std::to_string(kind.index);
                         });

TEST(UpdatedModel, IsTheSameForAnyOrderAndAnyNumberOfSteps) {
  const Pair pair(test::toy_graph(3));
  std::vector<NewInteraction> added = additions(pair);
  const std::string at_once = update_model(pair.bytes, added).file;
  std::reverse(added.begin(), added.end());
  EXPECT_EQ(update_model(pair.bytes, added).file, at_once);
  // Step by step the new rows come in another order; what is answered is the same.
  const Updated first(pair, std::span(added).first(3));
  const std::vector<std::byte> second =
      exact_bytes(update_model(first.bytes, std::span(added).subspan(3)).file);
  const Model steps = Model::from_bytes(second);
  const std::vector<std::byte> bytes = exact_bytes(at_once);
  const Model whole = Model::from_bytes(bytes);
  for (const std::string_view user : {std::string_view("new a"), std::string_view("new b")}) {
    const std::vector<float> a = steps.user_vector(user);
    const std::vector<float> b = whole.user_vector(user);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t j = 0; j < a.size(); ++j) EXPECT_NEAR(a[j], b[j], kUpdateTolerance);
  }
  EXPECT_EQ(std::get<std::int64_t>(*steps.fact("updated.interactions")), 6);
  EXPECT_EQ(steps.facts(), whole.facts());
}

TEST(UpdatedModel, SaysNoMoreHowGoodItIs) {
  const Pair pair(test::toy_graph(2));
  ASSERT_NE(pair.model.fact("test.recall"), nullptr);
  const Updated updated(pair, additions(pair));
  EXPECT_EQ(updated.model.fact("test.recall"), nullptr);
  EXPECT_EQ(std::get<std::string>(*updated.model.fact("dataset.name")), "toy");
  EXPECT_EQ(std::get<std::int64_t>(*updated.model.fact("updated.users")), 2);
}

TEST(UpdatedModel, TakesOtherInteractionsInThePlaceOfTheOldOnes) {
  for (const ToyOptions& kind : {test::toy_graph(2), ToyOptions()}) {
    const Pair pair(kind);
    std::size_t busy = 0;
    while (pair.toy.model.items_of[busy].size() < 2) ++busy;
    const std::string& user = pair.users()[busy];
    const std::string& kept = pair.items()[pair.toy.model.items_of[busy][0]];
    const NewInteraction left[] = {{user, kept}, {user, "fresh"}};
    const UpdatedModel result = update_model(pair.bytes, left, {.replace = true});
    const std::vector<std::byte> bytes = exact_bytes(result.file);
    const Model model = Model::from_bytes(bytes);
    EXPECT_EQ(model.summary().interactions, 2U);
    EXPECT_EQ(result.new_interactions, 1U);
    EXPECT_EQ(result.known_interactions, 1U);
    EXPECT_EQ(result.dropped_interactions, pair.model.summary().interactions - 1);
    EXPECT_EQ(std::get<std::int64_t>(*model.fact("updated.dropped")),
              static_cast<std::int64_t>(result.dropped_interactions));
    EXPECT_EQ(model.num_users(), pair.model.num_users()) << "all stay";
    const std::vector<std::string_view> seen = model.seen_items(user);
    EXPECT_EQ(std::set<std::string_view>(seen.begin(), seen.end()),
              (std::set<std::string_view>{kept, "fresh"}));
    EXPECT_TRUE(model.seen_items(pair.users()[busy + 1]).empty());
  }
}

TEST(UpdatedModel, WithoutAnythingNewAnswersAsBefore) {
  const Pair pair(test::toy_graph(2));
  const Updated updated(pair, {});
  for (const std::string& user : pair.users()) {
    EXPECT_EQ(updated.model.user_vector(user), pair.model.user_vector(user));
  }
}

TEST(UpdatedModel, NeedsAGoodFile) {
  const test::TempFolder folder;
  const std::string path = folder.write("m.bet", "no model");
  EXPECT_TRUE(error_of([&] { update_model_file(path, {}); }).starts_with(path + ": "));
  const Pair graph(test::toy_graph(2));
  const std::string good = folder.write("g.bet", graph.toy.encode());
  EXPECT_EQ(update_model_file(good, additions(graph)).file,
            update_model(graph.bytes, additions(graph)).file);
  std::vector<std::byte> damaged = graph.bytes;
  damaged[damaged.size() - 1] ^= std::byte{1};
  EXPECT_NE(error_of([&] { update_model(damaged, {}); }).find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace bet
