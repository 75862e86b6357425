#include "runtime/block_ranking.h"

#include <gtest/gtest.h>

#include <numeric>

#include "bet/model.h"
#include "runtime/model_pair.h"
#include "support/expect_error.h"
#include "support/sanitized.h"

namespace bet {
namespace {

using test::Pair;
using test::ToyOptions;

std::vector<std::vector<ScoredItem>> together(const Model& model, std::size_t k,
                                              const ItemFilter& filter, std::size_t threads) {
  std::vector<std::uint32_t> rows(model.num_users());
  std::iota(rows.begin(), rows.end(), 0U);
  std::vector<std::vector<ScoredItem>> answers(rows.size());
  model.recommend_rows(
      rows, k, filter,
      [&](std::size_t i, const std::vector<ScoredItem>& items) { answers[i] = items; }, threads);
  return answers;
}

void expect_as_alone(const Model& model, std::size_t k, const ItemFilter& filter,
                     std::size_t threads) {
  const auto answers = together(model, k, filter, threads);
  for (std::uint32_t row = 0; row < model.num_users(); ++row) {
    const auto alone = model.recommend(model.user_id(row), k, filter);
    ASSERT_EQ(answers[row].size(), alone.size());
    for (std::size_t j = 0; j < alone.size(); ++j) {
      ASSERT_EQ(answers[row][j].item, alone[j].item) << "user row " << row << ", place " << j;
      ASSERT_EQ(answers[row][j].score, alone[j].score);
    }
  }
}

// Several tiles of items, and several blocks of users.
ToyOptions large(Precision precision, ScoreKind score) {
  ToyOptions options;
  options.users = 450;
  options.items = 700;
  options.max_dim = 40;
  options.precision = precision;
  options.score = score;
  return options;
}

TEST(BlockRanking, AnswersAsForEachUserAloneToTheBit) {
  for (const ScoreKind score : {ScoreKind::kDot, ScoreKind::kCosine}) {
    for (const Precision precision : test::kPrecisions) {
      // Every precision once, and one with everything else.
      const bool in_brief = test::kSlow && precision != Precision::kFloat32;
      if (in_brief && score == ScoreKind::kCosine) continue;
      SCOPED_TRACE(std::string(precision_name(precision)) + " " + std::string(score_name(score)));
      const Pair pair(large(precision, score));
      const std::string_view some[] = {pair.items()[1], pair.items()[300], pair.items()[600]};
      const ItemSet exclude = pair.model.item_set(some);
      for (const std::size_t k : {20U, 1U, 600U}) {
        expect_as_alone(pair.model, k, {}, 2);
        if (in_brief) break;
      }
      expect_as_alone(pair.model, 30, {.exclude = &exclude, .seen = Seen::kKeep}, 3);
      expect_as_alone(pair.model, 30, {.min_score = 0.25F}, 1);
    }
  }
}

TEST(BlockRanking, AnswersForMaskedRows) {
  ToyOptions options = large(Precision::kInt4, ScoreKind::kDot);
  options.layout = RowLayout::kMasked;
  const Pair pair(options);
  expect_as_alone(pair.model, 15, {}, 2);
}

// Rows that differ in no bit: lower rows come first, as for a user alone.
TEST(BlockRanking, KeepsTheOrderOfEquals) {
  ToyOptions options = large(Precision::kInt1, ScoreKind::kDot);
  options.max_dim = 2;
  const Pair pair(options);
  expect_as_alone(pair.model, 25, {}, 2);
}

TEST(BlockRanking, ChecksTheFilterAsOtherRequestsDo) {
  const Pair pair(large(Precision::kFloat32, ScoreKind::kDot));
  const Pair other(large(Precision::kFloat32, ScoreKind::kDot));
  const std::string_view some[] = {other.items()[1]};
  const ItemSet set = other.model.item_set(some);
  EXPECT_EQ(test::error_of([&] { together(pair.model, 5, {.exclude = &set}, 1); }),
            "a set of items was made by another model");
}

// Where sums could overflow there are no bounds, and each user is answered alone.
TEST(BlockRanking, LeavesHugeValuesToOthers) {
  const std::vector<float> rows = {1e20F, 1e20F, 1, 2, 3, 4};
  const RowSection items(rows, 3, 2);
  BlockRanking ranking(items, nullptr);
  const std::vector<BlockUser> users = {{{1e20F, 1}, {}}};
  std::vector<std::vector<std::uint32_t>> candidates;
  EXPECT_FALSE(ranking.rank(users, 1, candidates));
  const std::vector<float> small_rows = {1, 2, 3, 4};
  const RowSection small(small_rows, 2, 2);
  std::vector<BlockUser> few(1);
  few[0].query = {1, 1};
  ASSERT_TRUE(BlockRanking(small, nullptr).rank(few, 1, candidates));
  EXPECT_EQ(candidates[0], std::vector<std::uint32_t>{1});
}

TEST(StoredVectors, AreThoseOfTheFileWhereItHasThem) {
  ToyOptions options;
  options.seed = 3;
  test::ToyModel toy(options);
  std::fill(toy.model.users.sizes.begin(), toy.model.users.sizes.end(), options.max_dim);
  std::fill(toy.model.items.sizes.begin(), toy.model.items.sizes.end(), options.max_dim);
  for (std::vector<float>* values : {&toy.user_values, &toy.item_values}) {
    for (std::size_t i = 0; i < values->size(); ++i) (*values)[i] = static_cast<float>(i);
  }
  const std::vector<std::byte> bytes = test::exact_bytes(toy.encode());
  const Model model = Model::from_bytes(bytes);
  const auto stored = model.stored_item_vectors();
  EXPECT_EQ(std::vector<float>(stored.begin(), stored.end()), model.item_vectors());
  EXPECT_EQ(model.stored_user_vectors().size(), std::size_t{options.users} * options.max_dim);
  for (const Precision precision : {Precision::kFloat16, Precision::kInt8}) {
    ToyOptions other = options;
    other.precision = precision;
    EXPECT_TRUE(Pair(other).model.stored_item_vectors().empty());
  }
}

TEST(UserVectors, AreThoseOfSingleUsers) {
  for (const ToyOptions& options : test::all_kinds()) {
    const Pair pair(options);
    if (pair.model.dimension() == 0) continue;
    const std::vector<float> all = pair.model.user_vectors();
    ASSERT_EQ(all.size(), std::size_t{pair.model.num_users()} * pair.model.dimension());
    for (std::uint32_t row = 0; row < pair.model.num_users(); ++row) {
      const std::vector<float> one = pair.model.user_vector(pair.model.user_id(row));
      for (std::size_t j = 0; j < one.size(); ++j) {
        ASSERT_NEAR(all[row * one.size() + j], one[j], 1e-5F) << test::kind_name(options);
      }
    }
  }
}

}  // namespace
}  // namespace bet
