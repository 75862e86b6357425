#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <functional>
#include <map>

#include "search/fitness_predictor.h"
#include "search/mlp.h"

namespace bet {
namespace {

constexpr std::int64_t kCode = 16;
constexpr MlpShape kEncoder = {1, 16, kCode};           // rho_U and rho_V: a frequency
constexpr MlpShape kSizeEncoder = {kCode + 1, 64, 64};  // mu: a set and its size
constexpr MlpShape kDecoder = {64, 64, 1};              // pi: the plan

// The rows of one side ranked by frequency, in groups of equal frequency.
struct RankedSide {
  at::Tensor inputs;                     // double [groups, 1]: frequency / largest
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
      inputs.data_ptr<double>()[group] = static_cast<double>(frequency) / largest;
      counts.data_ptr<double>()[group] = static_cast<double>(count);
      first_rank.push_back(static_cast<std::int64_t>(group_of.size()));
      group_of.insert(group_of.end(), static_cast<std::size_t>(count), group);
      ++group;
    }
    group_of.push_back(group);
    first_rank.push_back(static_cast<std::int64_t>(group_of.size()) - 1);
  }
};

// Where the sets of each size begin among the ranks, for several plans at once: rank = first rank
// of `group` + `inside`.
struct Boundaries {
  at::Tensor group;   // int64 [plans * (max_dim + 1)]
  at::Tensor inside;  // double, [.., 1]
  at::Tensor sizes;   // double [plans, max_dim]: rows of size 1, 2, ...

  Boundaries(const RankedSide& side, std::uint32_t max_dim,
             const std::vector<std::span<const std::uint32_t>>& plans) {
    const auto num_plans = static_cast<std::int64_t>(plans.size());
    const std::int64_t width = max_dim + 1;
    group = at::empty({num_plans * width}, at::kLong);
    inside = at::empty({num_plans * width, 1}, at::kDouble);
    sizes = at::zeros({num_plans, max_dim}, at::kDouble);
    for (std::int64_t p = 0; p < num_plans; ++p) {
      const std::span<const std::uint32_t> count = plans[static_cast<std::size_t>(p)];
      // Sizes fall with the rank: size max_dim begins at rank 0, size d where d + 1 ends.
      std::int64_t rank = 0;
      for (std::int64_t d = max_dim; d >= 0; --d) {
        const std::int64_t g = side.group_of[static_cast<std::size_t>(rank)];
        group.data_ptr<std::int64_t>()[p * width + d] = g;
        inside.data_ptr<double>()[p * width + d] =
            static_cast<double>(rank - side.first_rank[static_cast<std::size_t>(g)]);
        if (d > 0) sizes.data_ptr<double>()[p * max_dim + d - 1] = static_cast<double>(count[d]);
        rank += count[d];
      }
    }
  }
};

class DeepSetsPredictor final : public FitnessPredictor {
 public:
  DeepSetsPredictor(const TableShape& shape, const Frequencies& frequencies, std::uint64_t seed)
      : FitnessPredictor(draw_params(seed)),
        max_dim_(shape.max_dim),
        users_(frequencies.users),
        items_(frequencies.items) {}

 private:
  static std::vector<double> draw_params(std::uint64_t seed) {
    RandomStream random(seed, "predictor");
    std::vector<double> params;
    for (const MlpShape& part : {kEncoder, kEncoder, kSizeEncoder, kDecoder}) {
      draw_mlp(part, random, params);
    }
    return params;
  }

  // Sums of the codes over each size's set: [plans, max_dim, kCode].
  at::Tensor set_sums(const RankedSide& side, const at::Tensor& encoder,
                      const Boundaries& boundaries) const {
    const at::Tensor codes = mlp(kEncoder, encoder, side.inputs);
    const at::Tensor none = at::zeros({1, kCode}, at::kDouble);
    // Sums over all rows before a group, and the code of the rows inside it.
    const at::Tensor before = at::cat({none, (codes * side.counts).cumsum(0)});
    const at::Tensor code = at::cat({codes, none});
    const at::Tensor until = (before.index_select(0, boundaries.group) +
                              code.index_select(0, boundaries.group) * boundaries.inside)
                                 .view({-1, max_dim_ + 1, kCode});
    return until.slice(1, 0, max_dim_) - until.slice(1, 1, max_dim_ + 1);
  }

  Prediction forward(const at::Tensor& params,
                     std::span<const SizePlan* const> plans) const override {
    std::vector<std::span<const std::uint32_t>> user_counts, item_counts;
    for (const SizePlan* plan : plans) {
      user_counts.push_back(plan->user_counts());
      item_counts.push_back(plan->item_counts());
    }
    const Boundaries users(users_, static_cast<std::uint32_t>(max_dim_), user_counts);
    const Boundaries items(items_, static_cast<std::uint32_t>(max_dim_), item_counts);
    std::int64_t first = 0;
    const auto next = [&](const MlpShape& shape) {
      first += shape.num_params();
      return params.slice(0, first - shape.num_params(), first);
    };
    const at::Tensor user_encoder = next(kEncoder);
    const at::Tensor item_encoder = next(kEncoder);
    const at::Tensor size_encoder = next(kSizeEncoder);
    const at::Tensor decoder = next(kDecoder);

    // An empty set has a zero mean.
    const at::Tensor members = (users.sizes + items.sizes).clamp_min(1).unsqueeze(2);
    const at::Tensor means =
        (set_sums(users_, user_encoder, users) + set_sums(items_, item_encoder, items)) / members;
    const at::Tensor dims = at::arange(1, max_dim_ + 1, at::kDouble)
                                .div(static_cast<double>(max_dim_))
                                .view({1, max_dim_, 1})
                                .expand({means.size(0), max_dim_, 1});
    const at::Tensor sets =
        mlp(kSizeEncoder, size_encoder, at::cat({means, dims}, 2).view({-1, kCode + 1}));
    const at::Tensor embeddings = sets.view({-1, max_dim_, kSizeEncoder.out}).mean(1);
    const at::Tensor scores =
        mlp_output(kDecoder, decoder, mlp_hidden(kDecoder, decoder, embeddings)).view({-1});
    return {scores, embeddings};
  }

  std::int64_t max_dim_;
  RankedSide users_;
  RankedSide items_;
};

}  // namespace

std::unique_ptr<FitnessPredictor> make_deepsets_predictor(const TableShape& shape,
                                                          const Frequencies& frequencies,
                                                          std::uint64_t seed) {
  return std::make_unique<DeepSetsPredictor>(shape, frequencies, seed);
}

}  // namespace bet
