#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "support/expect_error.h"
#include "support/method_case.h"

namespace bet {
namespace {

constexpr std::uint32_t kDim = 24;
constexpr std::uint64_t kSteps = 30;

// Asks the method for its plan, with a full-size model that was never trained: all it takes from
// that is a number of steps.
struct Case : test::MethodCase {
  explicit Case(const std::string& backbone = "lightgcn", std::uint32_t dim = kDim,
                Split data = test::toy_split(300, 200, 9000))
      : MethodCase("esapn", backbone, dim, std::move(data)) {
    fit.schedule = named_schedule("fast", backbone);
    pretrained = [] {
      Pretrained full;
      full.best_length = kSteps;
      return full;
    };
  }

  std::optional<std::uint64_t> params;
  Proposal propose() const { return MethodCase::propose("esapn", params); }
};

std::vector<std::uint16_t> all_sizes(const SizePlan& plan) {
  std::vector<std::uint16_t> sizes(plan.user_sizes().begin(), plan.user_sizes().end());
  sizes.insert(sizes.end(), plan.item_sizes().begin(), plan.item_sizes().end());
  return sizes;
}

// Mean size of the most frequent quarter of a side over that of the least frequent one.
double favour(std::span<const std::uint16_t> sizes, const std::vector<std::uint32_t>& frequencies) {
  std::vector<std::size_t> order(sizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return frequencies[a] > frequencies[b]; });
  double high = 0;
  double low = 0;
  for (std::size_t i = 0; i < order.size() / 4; ++i) {
    high += sizes[order[i]];
    low += sizes[order[order.size() - 1 - i]];
  }
  return high / low;
}

TEST(Esapn, GrowsTheFrequentAlongItsListOfSizes) {
  for (const char* backbone : {"lightgcn", "ncf", "ngcf"}) {
    SCOPED_TRACE(backbone);
    // Two passes bring the rows of a small side to full size: each side is looked at where it is
    // the large one.
    for (const auto& [users, items] : {std::pair{300U, 200U}, std::pair{300U, 900U}}) {
      Case test(backbone, kDim, test::toy_split(users, items, 9000));
      const Proposal proposal = test.propose();
      ASSERT_EQ(proposal.plans.size(), 1U);
      EXPECT_EQ(proposal.trainings, 1U);
      EXPECT_EQ(proposal.steps, kSteps);
      EXPECT_FALSE(proposal.stopped);
      const SizePlan& plan = proposal.plans[0];
      const std::vector<std::uint16_t> sizes = all_sizes(plan);
      const std::set<std::uint16_t> seen(sizes.begin(), sizes.end());
      for (const std::uint16_t size : seen) {
        EXPECT_TRUE((std::set<std::uint16_t>{2, 4, 8, 16, kDim}).contains(size)) << size;
      }
      EXPECT_GT(seen.size(), 2U) << "nothing has grown";
      const Frequencies frequencies = train_frequencies(test.split);
      const double favour_of_large = users > items ? favour(plan.user_sizes(), frequencies.users)
                                                   : favour(plan.item_sizes(), frequencies.items);
      EXPECT_GT(favour_of_large, 1.2);
    }
  }
}

// Sizes of a state, by row.
std::vector<float> places_in(const std::filesystem::path& state) {
  const at::Tensor places = read_checkpoint(state).tensor("places");
  return {places.data_ptr<float>(), places.data_ptr<float>() + places.numel()};
}

TEST(Esapn, SizesOnlyGrowAndByOnePlaceForADoubling) {
  Case test;
  std::vector<float> last(test.shape.num_rows(), 0);
  std::uint64_t num_states = 0;
  test.hooks.save_seconds = 0;
  test.hooks.progress = [&](const Progress& /*progress*/) {
    if (!std::filesystem::exists(test.folder / "method.ckpt")) return;
    const Checkpoint state = read_checkpoint(test.folder / "method.ckpt");
    const std::vector<float> now = places_in(test.folder / "method.ckpt");
    const float* const occurrences = state.tensor("occurrences").data_ptr<float>();
    for (std::size_t row = 0; row < now.size(); ++row) {
      ASSERT_GE(now[row], last[row]);
      ASSERT_LE(now[row], last[row] + 1);
      ASSERT_LE(now[row], std::max(std::log2(occurrences[row]), 0.0F));
    }
    last = now;
    ++num_states;
  };
  test.propose();
  EXPECT_EQ(num_states, kSteps - 1);
  EXPECT_GT(*std::max_element(last.begin(), last.end()), 1);
}

TEST(Esapn, ABudgetIsACapThatIsKeptAndReached) {
  for (const char* backbone : {"lightgcn", "ncf"}) {
    Case free(backbone);
    const std::uint64_t grown = free.propose().plans[0].num_params();
    Case capped(backbone);
    const std::uint64_t smallest = capped.shape.total_size(2) * capped.shape.tables;
    ASSERT_GT(grown, smallest + 400);
    capped.params = (smallest + grown) / 2 | 1;
    const SizePlan plan = capped.propose().plans[0];
    EXPECT_LE(plan.num_params(), *capped.params);
    EXPECT_GT(plan.num_params() + 2 * 8 * capped.shape.tables, *capped.params) << backbone;
    std::filesystem::remove(capped.folder / "method.ckpt");
    capped.params = smallest - 1;
    const std::string error = test::error_of([&] { capped.propose(); });
    EXPECT_NE(error.find(std::to_string(smallest)), std::string::npos) << error;
  }
}

TEST(Esapn, ResumesToTheSamePlan) {
  for (const char* backbone : {"lightgcn", "ncf"}) {
    Case whole(backbone);
    const SizePlan expected = whole.propose().plans[0];
    Case killed(backbone);
    killed.hooks.save_seconds = 0;
    // A kill: what was saved last is all that is left.
    struct Killed {};
    killed.hooks.progress = [&](const Progress& progress) {
      if (progress.done == 12) throw Killed();
    };
    EXPECT_THROW(killed.propose(), Killed);
    killed.hooks.progress = nullptr;
    ASSERT_TRUE(std::filesystem::exists(killed.folder / "method.ckpt"));
    EXPECT_EQ(killed.propose().plans[0], expected) << backbone;
    for (const char* name : {"table", "occurrences", "user policy", "item policy"}) {
      EXPECT_TRUE(read_checkpoint(killed.folder / "method.ckpt")
                      .tensor(name)
                      .equal(read_checkpoint(whole.folder / "method.ckpt").tensor(name)))
          << backbone << ": " << name;
    }
  }
}

TEST(Esapn, StopsWithWhatHasGrown) {
  Case test;
  int asked = 0;
  test.hooks.stop = [&] { return ++asked > 10; };
  const Proposal proposal = test.propose();
  EXPECT_TRUE(proposal.stopped);
  EXPECT_EQ(proposal.steps, 10U);
}

TEST(Esapn, TakesItsListOfSizesFromTheTablesWidth) {
  Case narrow("lightgcn", 2);
  EXPECT_NE(test::error_of([&] { narrow.propose(); }).find("at least 2 and below 2"),
            std::string::npos);
  Case three("lightgcn", 8);
  const std::vector<std::uint16_t> sizes = all_sizes(three.propose().plans[0]);
  for (const std::uint16_t size : sizes) {
    EXPECT_TRUE((std::set<std::uint16_t>{2, 4, 8}).contains(size)) << size;
  }
  EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), 8U);
}

}  // namespace
}  // namespace bet
