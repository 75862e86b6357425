// Answers under a filter are those without one, filtered by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "bet/model.h"
#include "runtime/model_pair.h"
#include "support/expect_error.h"

namespace bet {
namespace {

using test::error_of;
using test::Pair;
using test::ToyOptions;

constexpr float kNear = 2e-5F;
constexpr std::size_t kAll = 1'000;

using Scores = std::map<std::string, float>;

Scores by_item(const std::vector<ScoredItem>& answer) {
  Scores scores;
  for (const auto& [item, score] : answer) scores.emplace(item, score);
  return scores;
}

// Expects the k best of `all` that are in `only` (none: any), not in `left_out`, and not below
// min_score. Nearly equal items may come in either order.
void expect_filtered(const std::vector<ScoredItem>& answer, const Scores& all,
                     const std::set<std::string>* only, const std::set<std::string>& left_out,
                     float min_score, std::size_t k) {
  Scores rest;
  for (const auto& [item, score] : all) {
    if (only != nullptr && !only->contains(item)) continue;
    if (!left_out.contains(item) && score >= min_score) rest.emplace(item, score);
  }
  ASSERT_EQ(answer.size(), std::min(k, rest.size()));
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const auto found = rest.find(std::string(answer[i].item));
    ASSERT_NE(found, rest.end()) << answer[i].item << " is not allowed or is given twice";
    EXPECT_NEAR(answer[i].score, found->second, kNear);
    EXPECT_TRUE(i == 0 || answer[i - 1].score >= answer[i].score);
    rest.erase(found);
  }
  for (const auto& [item, score] : rest) EXPECT_LE(score, answer.back().score + kNear) << item;
}

std::vector<std::string_view> views(const std::set<std::string>& items) {
  return {items.begin(), items.end()};
}

class Filters : public testing::TestWithParam<ToyOptions> {};

TEST_P(Filters, AnswersAreThoseOfAllItemsFilteredByHand) {
  const Pair pair(GetParam());
  const Model& model = pair.model;
  const std::vector<std::string>& items = pair.items();
  const std::set<std::string> allowed = {items[7], items[0], items[3], items[8], items[4]};
  const std::set<std::string> excluded = {items[3], items[5], items[8]};
  for (const Model::Use use : {Model::Use::kOnce, Model::Use::kOften}) {
    const ItemSet only = model.item_set(views(allowed), use);
    const ItemSet exclude = model.item_set(views(excluded));
    const auto expect_all = [&](const Scores& all, const std::set<std::string>& seen,
                                const auto& answer) {
      // Between two scores, so that rounding does not decide.
      std::vector<float> sorted;
      for (const auto& [item, score] : all) sorted.push_back(score);
      std::sort(sorted.begin(), sorted.end());
      const float gap = sorted[4] - sorted[3];
      const float middle = gap > 10 * kNear ? sorted[3] + gap / 2 : sorted[0] - 1;
      for (const std::size_t k : {std::size_t{2}, kAll}) {
        expect_filtered(answer(k, ItemFilter{.only = &only}), all, &allowed, seen, -1e9F, k);
        expect_filtered(answer(k, ItemFilter{.only = &only, .seen = Seen::kKeep}), all, &allowed,
                        {}, -1e9F, k);
        std::set<std::string> both = seen;
        both.insert(excluded.begin(), excluded.end());
        expect_filtered(answer(k, ItemFilter{.exclude = &exclude}), all, nullptr, both, -1e9F, k);
        expect_filtered(answer(k, ItemFilter{.only = &only, .exclude = &exclude}), all, &allowed,
                        both, -1e9F, k);
        expect_filtered(answer(k, ItemFilter{.min_score = middle}), all, nullptr, seen, middle, k);
        expect_filtered(answer(k, ItemFilter{.only = &only, .min_score = middle}), all, &allowed,
                        seen, middle, k);
      }
    };
    for (std::size_t user = 0; user < pair.users().size(); ++user) {
      const std::string& id = pair.users()[user];
      expect_all(
          by_item(model.recommend(id, kAll, Seen::kKeep)), pair.seen(user),
          [&](std::size_t k, const ItemFilter& filter) { return model.recommend(id, k, filter); });
    }
    const std::string_view given[] = {items[4], items[6]};
    const Scores for_given = by_item(model.recommend_for_items(given, kAll, {.seen = Seen::kKeep}));
    EXPECT_EQ(for_given.size(), items.size());
    expect_all(for_given, {items[4], items[6]}, [&](std::size_t k, const ItemFilter& filter) {
      return model.recommend_for_items(given, k, filter);
    });
  }
}

TEST_P(Filters, SimilarItemsAreFilteredAndTheItemItselfIsNeverThere) {
  const Pair pair(GetParam());
  const std::vector<std::string>& items = pair.items();
  const std::set<std::string> allowed = {items[7], items[0], items[3]};
  for (const Model::Use use : {Model::Use::kOnce, Model::Use::kOften}) {
    const ItemSet only = pair.model.item_set(views(allowed), use);
    for (const std::string& item : items) {
      const Scores all = by_item(pair.model.similar_items(item, kAll));
      for (const Seen seen : {Seen::kLeaveOut, Seen::kKeep}) {
        expect_filtered(pair.model.similar_items(item, kAll, {.only = &only, .seen = seen}), all,
                        &allowed, {item}, -1e9F, kAll);
      }
    }
  }
}

// Of all kinds those with enough rows.
std::vector<ToyOptions> kinds() {
  std::vector<ToyOptions> kinds = test::all_kinds();
  std::erase_if(kinds, [](const ToyOptions& kind) { return kind.users < 7 || kind.items < 9; });
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(All, Filters, testing::ValuesIn(kinds()), [](const auto& kind) {
  return test::kind_name(kind.param) + "_" + std::to_string(kind.index);
});

TEST(ItemSets, HaveTheKnownItemsOnceAndMayBeEmpty) {
  const Pair pair{ToyOptions()};
  const std::string& user = pair.users()[0];
  const std::string_view some[] = {pair.items()[1], "what", pair.items()[4], pair.items()[1]};
  EXPECT_EQ(pair.model.item_set(some).size(), 2U);
  const ItemSet nothing = pair.model.item_set({});
  EXPECT_EQ(nothing.size(), 0U);
  EXPECT_TRUE(pair.model.recommend(user, 5, {.only = &nothing}).empty()) << "nothing is allowed";
  EXPECT_EQ(by_item(pair.model.recommend(user, 5, {.exclude = &nothing})),
            by_item(pair.model.recommend(user, 5)));
}

TEST(ItemSets, AreForTheirOwnModelAlone) {
  const Pair pair{ToyOptions()};
  const Model same_file = Model::from_bytes(pair.bytes);
  const ItemSet set = same_file.item_set({});
  for (const ItemFilter& filter : {ItemFilter{.only = &set}, ItemFilter{.exclude = &set}}) {
    EXPECT_EQ(error_of([&] { pair.model.recommend(pair.users()[0], 5, filter); }),
              "a set of items was made by another model");
  }
  EXPECT_EQ(error_of([&] {
              const float nan = std::numeric_limits<float>::quiet_NaN();
              pair.model.recommend(pair.users()[0], 5, {.min_score = nan});
            }),
            "min_score is not a number");
}

TEST(ItemSets, ABatchIsFilteredUserByUser) {
  const Pair pair(test::toy_graph(2));
  const std::string_view some[] = {pair.items()[1], pair.items()[4], pair.items()[6]};
  const ItemSet only = pair.model.item_set(some);
  const ItemFilter filter{.only = &only, .seen = Seen::kKeep};
  const std::string_view users[] = {pair.users()[3], "nobody", pair.users()[0]};
  const auto answers = pair.model.recommend_batch(users, 4, filter);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[1].error, "unknown user 'nobody'");
  for (const std::size_t i : {0U, 2U}) {
    EXPECT_EQ(answers[i].items.size(), 3U);
    EXPECT_EQ(by_item(answers[i].items), by_item(pair.model.recommend(users[i], 4, filter)));
  }
}

TEST(PopularItems, AreThoseOfMostUsers) {
  for (const ToyOptions& options : {ToyOptions(), test::toy_graph(2), test::toy_ncf()}) {
    const Pair pair(options);
    Scores counts;
    for (const std::vector<std::uint32_t>& list : pair.toy.model.items_of) {
      for (const std::uint32_t item : list) ++counts[pair.items()[item]];
    }
    ASSERT_LT(counts.size(), pair.items().size())
        << "or nobody would notice the items without users";
    expect_filtered(pair.model.popular_items(kAll), counts, nullptr, {}, -1e9F, kAll);
    expect_filtered(pair.model.popular_items(3), counts, nullptr, {}, -1e9F, 3);
    const std::set<std::string> some = {pair.items()[0], pair.items()[2], pair.items()[8]};
    const ItemSet set = pair.model.item_set(views(some));
    expect_filtered(pair.model.popular_items(kAll, {.only = &set}), counts, &some, {}, -1e9F, kAll);
    expect_filtered(pair.model.popular_items(kAll, {.exclude = &set}), counts, nullptr, some, -1e9F,
                    kAll);
    expect_filtered(pair.model.popular_items(kAll, {.min_score = 3}), counts, nullptr, {}, 3, kAll);
  }
  ToyOptions without;
  without.interactions = false;
  const Pair pair(without);
  EXPECT_EQ(error_of([&] { pair.model.popular_items(3); }),
            "no popular items: the file has no interactions");
}

TEST(ManyUsers, AreAnsweredAsEachAlone) {
  ToyOptions options = test::toy_graph(3);
  options.users = 100;
  const Pair pair(options);
  const std::string_view some[] = {pair.items()[1], pair.items()[4], pair.items()[6]};
  const ItemSet exclude = pair.model.item_set(some);
  const ItemFilter filter{.exclude = &exclude};
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < 150; ++i) rows.push_back(i * 7 % 100);  // some of them twice
  for (const std::size_t threads : {0U, 1U, 3U}) {
    std::vector<std::vector<ScoredItem>> answers(rows.size());
    pair.model.recommend_rows(
        rows, 4, filter,
        [&](std::size_t i, const std::vector<ScoredItem>& items) { answers[i] = items; }, threads);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto alone = pair.model.recommend(pair.model.user_id(rows[i]), 4, filter);
      ASSERT_EQ(answers[i].size(), alone.size());
      for (std::size_t j = 0; j < alone.size(); ++j) {
        ASSERT_EQ(answers[i][j].item, alone[j].item);
        ASSERT_EQ(answers[i][j].score, alone[j].score);
      }
    }
  }
  const std::uint32_t beyond[] = {0, 100};
  const auto ignore = [](std::size_t, const std::vector<ScoredItem>&) {};
  EXPECT_EQ(error_of([&] { pair.model.recommend_rows(beyond, 4, {}, ignore); }),
            "user row 100 is out of range: there are 100");
  EXPECT_EQ(error_of([&] {
              pair.model.recommend_rows(rows, 4, {},
                                        [](std::size_t, const std::vector<ScoredItem>&) -> void {
                                          throw Error("enough");
                                        });
            }),
            "enough");
}

// By graph all vectors are computed once for many users; only the last digits may differ.
TEST(ManyUsers, OfAGraphAreAnsweredByVectors) {
  for (const ScoreKind score : {ScoreKind::kDot, ScoreKind::kCosine}) {
    ToyOptions options = test::toy_graph(3);
    options.users = 300;
    options.score = score;
    const Pair pair(options);
    std::vector<std::uint32_t> rows(256);
    std::iota(rows.begin(), rows.end(), 0U);
    bool other_digits = false;
    const std::string_view some[] = {pair.items()[1], pair.items()[4], pair.items()[6]};
    const ItemSet set = pair.model.item_set(some);
    for (const ItemFilter& filter :
         {ItemFilter{}, ItemFilter{.seen = Seen::kKeep}, ItemFilter{.exclude = &set},
          ItemFilter{.only = &set}, ItemFilter{.min_score = 0}}) {
      pair.model.recommend_rows(
          rows, 4, filter, [&](std::size_t i, const std::vector<ScoredItem>& items) {
            const auto alone = pair.model.recommend(pair.model.user_id(rows[i]), 4, filter);
            ASSERT_EQ(items.size(), alone.size());
            for (std::size_t j = 0; j < alone.size(); ++j) {
              EXPECT_NEAR(items[j].score, alone[j].score, kNear);
              EXPECT_EQ(items[j].item, alone[j].item);
              other_digits = other_digits || items[j].score != alone[j].score;
            }
          });
    }
    EXPECT_TRUE(other_digits) << "the vectors were not used";
  }
}

TEST_P(Filters, ScoresOfManyItemsAreThoseOfEach) {
  const Pair pair(GetParam());
  const std::string& user = pair.users()[2];
  const std::string_view items[] = {pair.items()[7], "what", pair.items()[0], pair.items()[7]};
  const std::vector<float> scores = pair.model.scores(user, items);
  ASSERT_EQ(scores.size(), 4U);
  EXPECT_TRUE(std::isnan(scores[1]));
  for (const std::size_t i : {0U, 2U, 3U}) {
    EXPECT_NEAR(scores[i], pair.model.score(user, items[i]), kNear);
  }
  EXPECT_TRUE(pair.model.scores(user, {}).empty());
}

}  // namespace
}  // namespace bet
