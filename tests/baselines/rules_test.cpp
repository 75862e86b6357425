#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "baselines/kept_columns.h"
#include "support/method_case.h"

namespace bet {
namespace {

using test::MethodCase;

std::uint64_t sum_of(std::span<const std::uint16_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

TEST(Methods, AreFoundByTheirNames) {
  for (const MethodKind* kind : methods()) EXPECT_EQ(&find_method(kind->name), kind);
  EXPECT_THROW(find_method("bat"), Error);
}

// Every share of the budget in tenths, spent to the last parameter; with a graph the ends give one
// side nothing at all.
TEST(Sided, ProposesEveryShareAndTheEndsOnGraphsOnly) {
  for (const BackboneKind* backbone : backbones()) {
    const MethodCase toy("sided", std::string(backbone->name));
    const std::uint64_t params = toy.shape.full_params() / 5;
    const Proposal proposal = toy.propose("sided", params);
    ASSERT_EQ(proposal.plans.size(), backbone->uses_graph ? 11U : 9U) << backbone->name;
    ASSERT_EQ(proposal.labels.size(), proposal.plans.size());
    for (const SizePlan& plan : proposal.plans) {
      EXPECT_EQ(plan.num_params(), params / toy.shape.tables * toy.shape.tables);
      const auto [least, most] =
          std::minmax_element(plan.user_sizes().begin(), plan.user_sizes().end());
      EXPECT_LE(*most - *least, 1);
    }
    if (!backbone->uses_graph) continue;
    EXPECT_EQ(sum_of(proposal.plans.front().user_sizes()), 0U);
    EXPECT_EQ(sum_of(proposal.plans.back().item_sizes()), 0U);
    EXPECT_EQ(proposal.labels[3], "user share 0.3");
  }
}

TEST(Sided, TakesTheShareThatItIsGiven) {
  MethodCase toy("sided");
  toy.options.user_share = 0.75;
  const std::uint64_t params = toy.shape.full_params() / 4;
  const Proposal proposal = toy.propose("sided", params);
  ASSERT_EQ(proposal.plans.size(), 1U);
  EXPECT_EQ(sum_of(proposal.plans[0].user_sizes()), std::uint64_t(0.75 * double(params) + 0.5));
}

TEST(Frequency, GivesMoreToMoreFrequentRowsOfBothSides) {
  const MethodCase toy("frequency");
  const Frequencies frequencies = train_frequencies(toy.split);
  const std::uint64_t params = toy.shape.full_params() / 4 + 7;
  const Proposal proposal = toy.propose("frequency", params);
  ASSERT_EQ(proposal.plans.size(), 5U);
  for (const SizePlan& plan : proposal.plans) {
    EXPECT_EQ(plan.num_params(), params);
    for (std::size_t u = 0; u < frequencies.users.size(); ++u) {
      for (std::size_t i = 0; i < frequencies.items.size(); ++i) {
        if (frequencies.users[u] > frequencies.items[i]) {
          EXPECT_GE(plan.user_sizes()[u], plan.item_sizes()[i]);
        } else if (frequencies.users[u] < frequencies.items[i]) {
          EXPECT_LE(plan.user_sizes()[u], plan.item_sizes()[i]);
        }
      }
    }
  }
  EXPECT_LE(proposal.plans[0].largest_size(), 1 + params / toy.shape.num_rows());
  EXPECT_EQ(proposal.plans[4].largest_size(), toy.shape.max_dim);
}

TEST(KeptColumns, AreTheHighestOfAllRowsAndTiesGoToTheFirst) {
  const TableShape shape{1, 2, 3, 0, 1, true};
  const std::vector<float> scores = {5, 1, 4, 4, 0, 9, 4, 2, 3};
  const at::Tensor tensor = at::from_blob(const_cast<float*>(scores.data()), {3, 3});
  const SizePlan plan = keep_highest(tensor, shape, 4);
  const std::vector<std::uint8_t> expected = {1, 0, 1, 1, 0, 1, 0, 0, 0};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), plan.mask().begin()));
  EXPECT_EQ(keep_highest(tensor, shape, 0).num_params(), 0U);
  EXPECT_EQ(keep_highest(tensor, shape, 9).num_params(), 9U);
}

TEST(Magnitude, KeepsTheLargestValuesOfTheFullSizeTable) {
  for (const char* backbone : {"lightgcn", "ncf"}) {
    const MethodCase toy("magnitude", backbone);
    const std::uint64_t params = toy.shape.full_params() / 10;
    const SizePlan plan = toy.propose("magnitude", params).plans.at(0);
    EXPECT_EQ(plan.num_params(), params / toy.shape.tables * toy.shape.tables);
    // The twin: no kept column is smaller than one that is not.
    const at::Tensor table = toy.input(params).pretrained().table.values;
    double least_kept = 1e30;
    double most_cut = 0;
    for (std::uint64_t row = 0; row < toy.shape.num_rows(); ++row) {
      for (std::uint32_t column = 0; column < toy.shape.max_dim; ++column) {
        double size = 0;
        for (std::uint32_t t = 0; t < toy.shape.tables; ++t) {
          const auto place = static_cast<std::int64_t>(column * toy.shape.tables + t);
          size = std::max<double>(
              size, std::abs(table[static_cast<std::int64_t>(row)][place].item<float>()));
        }
        const bool kept = plan.mask()[row * toy.shape.max_dim + column] != 0;
        if (kept) least_kept = std::min(least_kept, size);
        if (!kept) most_cut = std::max(most_cut, size);
      }
    }
    EXPECT_GE(least_kept, most_cut) << backbone;
  }
}

}  // namespace
}  // namespace bet
