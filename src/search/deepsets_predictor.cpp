#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <type_traits>

#include "search/fitness_predictor.h"
#include "search/mlp.h"

namespace bet {
namespace {

constexpr std::int64_t kCode = 16;
constexpr MlpShape kEncoder = {1, 16, kCode};               // rho_U and rho_V: a frequency
constexpr MlpShape kSizeEncoder = {2 * kCode + 1, 64, 64};  // mu: a set and its size
constexpr MlpShape kDecoder = {64, 64, 1};                  // pi: the plan

// The rows of one side ranked by frequency, in groups of equal frequency.
struct RankedSide {
  at::Tensor inputs;                     // double [groups, 1]: log(1 + f) / log(1 + largest)
  at::Tensor counts;                     // double [groups, 1]: rows of each
  std::vector<std::int64_t> group_of;    // by rank, and one past the last
  std::vector<std::int64_t> first_rank;  // by group

  explicit RankedSide(const std::vector<std::uint32_t>& frequencies) {
    std::map<std::uint32_t, std::int64_t, std::greater<>> count_of;
    for (const std::uint32_t frequency : frequencies) ++count_of[frequency];
    const auto groups = static_cast<std::int64_t>(count_of.size());
    inputs = at::empty({groups, 1}, at::kDouble);
    counts = at::empty({groups, 1}, at::kDouble);
    const double largest =
        count_of.empty() ? 1.0 : std::max(1.0, static_cast<double>(count_of.begin()->first));
    std::int64_t group = 0;
    for (const auto& [frequency, count] : count_of) {
      inputs.data_ptr<double>()[group] = std::log1p(frequency) / std::log1p(largest);
      counts.data_ptr<double>()[group] = static_cast<double>(count);
      first_rank.push_back(static_cast<std::int64_t>(group_of.size()));
      group_of.insert(group_of.end(), static_cast<std::size_t>(count), group);
      ++group;
    }
    group_of.push_back(group);
    first_rank.push_back(static_cast<std::int64_t>(group_of.size()) - 1);
  }
};

// The sets of several plans that have a row: set s holds the rows of one size of one plan, from
// rank `begin` to rank `end` on each side.
struct Sets {
  // A rank on each side of each set: the first of its `group` + `inside`.
  struct Ranks {
    std::vector<std::int64_t> group;
    std::vector<double> inside;

    void add(const RankedSide& side, std::int64_t rank) {
      const std::int64_t g = side.group_of[static_cast<std::size_t>(rank)];
      group.push_back(g);
      inside.push_back(static_cast<double>(rank - side.first_rank[static_cast<std::size_t>(g)]));
    }
  };
  struct Side {
    Ranks begin, end;
    std::vector<double> count;  // rows
  };
  Side users, items;
  std::vector<std::int64_t> plan;
  std::vector<double> size;    // log d / log max_dim
  std::vector<double> weight;  // share of the rows: both sides count alike

  void add_plan(const RankedSide& ranked_users, const RankedSide& ranked_items,
                const SizePlan& sizes, std::int64_t number) {
    const double log_max = std::log(std::max(2U, sizes.shape().max_dim));
    // Sizes fall with the rank: the largest begins at rank 0, each where the one above ends.
    std::int64_t user = 0;
    std::int64_t item = 0;
    for (std::uint32_t d = sizes.shape().max_dim; d > 0; --d) {
      const std::uint32_t num_users = sizes.user_counts()[d];
      const std::uint32_t num_items = sizes.item_counts()[d];
      if (num_users + num_items == 0) continue;
      add_side(users, ranked_users, user, num_users);
      add_side(items, ranked_items, item, num_items);
      plan.push_back(number);
      size.push_back(std::log(d) / log_max);
      weight.push_back(0.5 * (share(num_users, sizes.shape().num_users) +
                              share(num_items, sizes.shape().num_items)));
    }
  }

 private:
  static double share(std::uint32_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  }
  static void add_side(Side& side, const RankedSide& ranked, std::int64_t& rank,
                       std::uint32_t count) {
    side.begin.add(ranked, rank);
    rank += count;
    side.end.add(ranked, rank);
    side.count.push_back(count);
  }
};

// A copy: the gradient is taken after the vectors are gone.
template <class T>
at::Tensor column(const std::vector<T>& values) {
  constexpr auto kType = std::is_same_v<T, double> ? at::kDouble : at::kLong;
  return at::from_blob(const_cast<T*>(values.data()), {static_cast<std::int64_t>(values.size()), 1},
                       kType)
      .clone();
}

class DeepSetsPredictor final : public FitnessPredictor {
 public:
  DeepSetsPredictor(const Frequencies& frequencies, std::uint64_t seed)
      : FitnessPredictor(draw_params(seed)), users_(frequencies.users), items_(frequencies.items) {}

 private:
  static std::vector<double> draw_params(std::uint64_t seed) {
    RandomStream random(seed, "predictor");
    std::vector<double> params;
    for (const MlpShape& part : {kEncoder, kEncoder, kSizeEncoder, kDecoder}) {
      draw_mlp(part, random, params);
    }
    return params;
  }

  // The mean code of each set's rows on one side, zero where it has none: [sets, kCode].
  static at::Tensor set_means(const RankedSide& ranked, const at::Tensor& encoder,
                              const Sets::Side& side) {
    const at::Tensor codes = mlp(kEncoder, encoder, ranked.inputs);
    const at::Tensor none = at::zeros({1, kCode}, at::kDouble);
    // Sums over all rows before a group, and the code of the rows inside it.
    const at::Tensor before = at::cat({none, (codes * ranked.counts).cumsum(0)});
    const at::Tensor code = at::cat({codes, none});
    const auto until = [&](const Sets::Ranks& ranks) {
      const at::Tensor group = column(ranks.group).squeeze(1);
      return before.index_select(0, group) + code.index_select(0, group) * column(ranks.inside);
    };
    return (until(side.end) - until(side.begin)) / column(side.count).clamp_min(1);
  }

  Prediction forward(const at::Tensor& params,
                     std::span<const SizePlan* const> plans) const override {
    Sets sets;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      sets.add_plan(users_, items_, *plans[i], static_cast<std::int64_t>(i));
    }
    std::int64_t first = 0;
    const auto next = [&](const MlpShape& shape) {
      first += shape.num_params();
      return params.slice(0, first - shape.num_params(), first);
    };
    const at::Tensor user_encoder = next(kEncoder);
    const at::Tensor item_encoder = next(kEncoder);
    const at::Tensor size_encoder = next(kSizeEncoder);
    const at::Tensor decoder = next(kDecoder);

    const at::Tensor seen =
        at::cat({set_means(users_, user_encoder, sets.users),
                 set_means(items_, item_encoder, sets.items), column(sets.size)},
                1);
    const at::Tensor encoded = mlp(kSizeEncoder, size_encoder, seen) * column(sets.weight);
    const at::Tensor embeddings =
        at::zeros({static_cast<std::int64_t>(plans.size()), kSizeEncoder.out}, at::kDouble)
            .index_add(0, column(sets.plan).squeeze(1), encoded);
    const at::Tensor scores =
        mlp_output(kDecoder, decoder, mlp_hidden(kDecoder, decoder, embeddings)).view({-1});
    return {scores, embeddings};
  }

  RankedSide users_;
  RankedSide items_;
};

}  // namespace

std::unique_ptr<FitnessPredictor> make_deepsets_predictor(const Frequencies& frequencies,
                                                          std::uint64_t seed) {
  return std::make_unique<DeepSetsPredictor>(frequencies, seed);
}

}  // namespace bet
