#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "search/fitness_predictor.h"
#include "search/mlp.h"

namespace bet {
namespace {

constexpr std::size_t kCode = 16;                // the width of q in Eq. 7
constexpr std::size_t kSetFeatures = kCode + 1;  // the rows' mean, the size
constexpr std::size_t kEmbedding = 64;           // the width of s_d and h_a in Eq. 8 and 9

// The rows of one side ranked by frequency, in groups of equal frequency.
struct RankedSide {
  std::vector<double> inputs;           // by group: f / largest
  std::vector<double> counts;           // by group: its number of rows
  std::vector<std::size_t> group_of;    // by rank, and one past the last
  std::vector<std::size_t> first_rank;  // by group, and one past the last

  explicit RankedSide(const std::vector<std::uint32_t>& frequencies) {
    std::map<std::uint32_t, std::size_t, std::greater<>> count_of;
    for (const std::uint32_t frequency : frequencies) ++count_of[frequency];
    const double largest = count_of.empty() ? 1.0 : std::max(1.0, 1.0 * count_of.begin()->first);
    for (const auto& [frequency, count] : count_of) {
      first_rank.push_back(group_of.size());
      group_of.insert(group_of.end(), count, inputs.size());
      inputs.push_back(frequency / largest);
      counts.push_back(static_cast<double>(count));
    }
    first_rank.push_back(group_of.size());
    group_of.push_back(inputs.size());
  }
};

// The rows of each set on one side: those of the ranks [begin, end).
struct RankRanges {
  std::vector<std::size_t> begin, end;

  void add(std::size_t first, std::size_t count) {
    begin.push_back(first);
    end.push_back(first + count);
  }
  std::size_t size() const { return begin.size(); }
  double count(std::size_t set) const { return static_cast<double>(end[set] - begin[set]); }
};

// The sets S_d of several plans, empty ones too: a set holds the rows of one size of one plan,
// users and items.
struct Sets {
  RankRanges users, items;
  std::vector<std::size_t> plan;
  std::vector<double> size;    // d / max_dim
  std::vector<double> weight;  // 1 / max_dim: that of a set in the mean of Eq. 9

  std::size_t count() const { return plan.size(); }
  double num_rows(std::size_t set) const { return users.count(set) + items.count(set); }

  void add_plan(const SizePlan& sizes, std::size_t number) {
    const TableShape& shape = sizes.shape();
    // Sizes descend with the rank: the largest begins at rank 0, each other where the last one
    // ends.
    std::size_t user = 0;
    std::size_t item = 0;
    for (std::uint32_t d = shape.max_dim; d > 0; --d) {
      const std::uint32_t num_users = sizes.user_counts()[d];
      const std::uint32_t num_items = sizes.item_counts()[d];
      users.add(user, num_users);
      items.add(item, num_items);
      user += num_users;
      item += num_items;
      plan.push_back(number);
      size.push_back(static_cast<double>(d) / shape.max_dim);
      weight.push_back(1.0 / shape.max_dim);
    }
  }
};

// The part of one side in the mean codes of the sets (the mean in Eq. 8): encodes the frequencies
// once and takes each set's sum as a difference of prefix sums.
class SideMeans {
 public:
  SideMeans(const Mlp& encoder, std::span<const double> params, const RankedSide& side,
            const Sets& sets, const RankRanges& ranges)
      : encoder_(encoder),
        params_(params),
        side_(side),
        sets_(sets),
        ranges_(ranges),
        codes_(encoder.forward(params, side.inputs)) {
    // Sums over all rows before each group. The rows of a group before a rank inside it are added
    // with the group's code.
    const std::vector<double>& codes = codes_.output();
    std::vector<double> before((side.counts.size() + 1) * kCode);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      before[kCode + i] = before[i] + codes[i] * side.counts[i / kCode];
    }
    means_.resize(sets.count() * kCode);
    for (std::size_t set = 0; set < sets.count(); ++set) {
      for (const auto& [rank, sign] : ends(set)) {
        const std::size_t group = side.group_of[rank];
        const double inside = static_cast<double>(rank - side.first_rank[group]);
        for (std::size_t c = 0; c < kCode; ++c) {
          const double code = inside > 0 ? codes[group * kCode + c] : 0.0;
          means_[set * kCode + c] += sign * (before[group * kCode + c] + inside * code);
        }
      }
    }
  }

  // [sets, kCode]; zero for a set without a row on this side. The means are the sum of both sides'.
  const std::vector<double>& means() const { return means_; }

  // Adds the gradient by the encoder's weights, given the gradient by the means.
  void backward(std::span<const double> means_gradient, std::span<double> gradient) const {
    const std::size_t num_groups = side_.counts.size();
    std::vector<double> before((num_groups + 1) * kCode);
    std::vector<double> codes(num_groups * kCode);
    for (std::size_t set = 0; set < sets_.count(); ++set) {
      for (const auto& [rank, sign] : ends(set)) {
        const std::size_t group = side_.group_of[rank];
        const double inside = static_cast<double>(rank - side_.first_rank[group]);
        for (std::size_t c = 0; c < kCode; ++c) {
          const double g = sign * means_gradient[set * kCode + c];
          before[group * kCode + c] += g;
          if (inside > 0) codes[group * kCode + c] += g * inside;
        }
      }
    }
    // Each group's codes are part of the prefix sums of all later groups.
    for (std::size_t i = num_groups * kCode; i-- > 0;) {
      codes[i] += before[i + kCode] * side_.counts[i / kCode];
      before[i] += before[i + kCode];
    }
    encoder_.backward(params_, codes_, std::move(codes), gradient, Mlp::InputGradient::kNo);
  }

 private:
  // The two prefix sums whose difference is the set's mean, with their factors.
  std::array<std::pair<std::size_t, double>, 2> ends(std::size_t set) const {
    const double scale = 1.0 / std::max(1.0, sets_.num_rows(set));
    return {{{ranges_.end[set], scale}, {ranges_.begin[set], -scale}}};
  }

  const Mlp& encoder_;
  std::span<const double> params_;
  const RankedSide& side_;
  const Sets& sets_;
  const RankRanges& ranges_;
  Mlp::Pass codes_;
  std::vector<double> means_;
};

// The four networks of the paper; their weights are stored in this order.
struct Networks {
  Mlp user_encoder{{{1, 16}, {16, kCode}}};                  // rho_U in Eq. 7: a user's frequency
  Mlp item_encoder{{{1, 16}, {16, kCode}}};                  // rho_V in Eq. 7: an item's frequency
  Mlp size_encoder{{{kSetFeatures, 64}, {64, kEmbedding}}};  // mu in Eq. 8: a set and its size
  Mlp decoder{{{kEmbedding, 64}, {64, 1, false}}};           // pi in Eq. 10: a plan

  // The parts of an array over all weights.
  template <class T>
  struct Parts {
    std::span<T> user_encoder, item_encoder, size_encoder, decoder;
  };
  template <class T>
  Parts<T> parts(std::span<T> all) const {
    std::size_t first = 0;
    const auto next = [&](const Mlp& mlp) {
      first += mlp.num_params();
      return all.subspan(first - mlp.num_params(), mlp.num_params());
    };
    Parts<T> parts;
    parts.user_encoder = next(user_encoder);
    parts.item_encoder = next(item_encoder);
    parts.size_encoder = next(size_encoder);
    parts.decoder = next(decoder);
    return parts;
  }

  std::vector<double> draw(std::uint64_t seed) const {
    RandomStream random(seed, "predictor");
    std::vector<double> params;
    for (const Mlp* mlp : {&user_encoder, &item_encoder, &size_encoder, &decoder}) {
      mlp->draw(random, params);
    }
    return params;
  }
};

// The input of the size encoder, [sets, kSetFeatures].
std::vector<double> set_features(const Sets& sets, const SideMeans& users, const SideMeans& items) {
  std::vector<double> features(sets.count() * kSetFeatures);
  for (std::size_t set = 0; set < sets.count(); ++set) {
    double* row = features.data() + set * kSetFeatures;
    for (std::size_t c = 0; c < kCode; ++c) {
      row[c] = users.means()[set * kCode + c] + items.means()[set * kCode + c];
    }
    row[kCode] = sets.size[set];
  }
  return features;
}

// The columns of the means in the gradient by the set features.
std::vector<double> means_gradient(std::span<const double> by_features) {
  const std::size_t num_sets = by_features.size() / kSetFeatures;
  std::vector<double> means(num_sets * kCode);
  for (std::size_t set = 0; set < num_sets; ++set) {
    std::copy_n(by_features.data() + set * kSetFeatures, kCode, means.data() + set * kCode);
  }
  return means;
}

// h_a, [plans, kEmbedding]: the mean of the encoded sets of each plan.
std::vector<double> sum_sets(const Sets& sets, std::span<const double> encoded,
                             std::size_t num_plans) {
  std::vector<double> embeddings(num_plans * kEmbedding);
  for (std::size_t set = 0; set < sets.count(); ++set) {
    for (std::size_t e = 0; e < kEmbedding; ++e) {
      embeddings[sets.plan[set] * kEmbedding + e] +=
          sets.weight[set] * encoded[set * kEmbedding + e];
    }
  }
  return embeddings;
}

// The gradient by the encoded sets, given the gradient by the embeddings of the plans.
std::vector<double> sum_sets_gradient(const Sets& sets, std::span<const double> by_embedding) {
  std::vector<double> by_set(sets.count() * kEmbedding);
  for (std::size_t i = 0; i < by_set.size(); ++i) {
    const std::size_t set = i / kEmbedding;
    by_set[i] = sets.weight[set] * by_embedding[sets.plan[set] * kEmbedding + i % kEmbedding];
  }
  return by_set;
}

class DeepSetsPredictor final : public FitnessPredictor {
 public:
  DeepSetsPredictor(const Frequencies& frequencies, std::uint64_t seed)
      : FitnessPredictor(Networks().draw(seed)),
        users_(frequencies.users),
        items_(frequencies.items) {}

 private:
  Prediction forward(std::span<const double> all_params, std::span<const SizePlan* const> plans,
                     const Supervision* supervision) const override {
    const auto params = networks_.parts(all_params);
    Sets sets;
    for (std::size_t i = 0; i < plans.size(); ++i) sets.add_plan(*plans[i], i);
    const SideMeans users(networks_.user_encoder, params.user_encoder, users_, sets, sets.users);
    const SideMeans items(networks_.item_encoder, params.item_encoder, items_, sets, sets.items);
    const Mlp::Pass encoded =
        networks_.size_encoder.forward(params.size_encoder, set_features(sets, users, items));
    std::vector<double> embeddings = sum_sets(sets, encoded.output(), plans.size());
    const Mlp::Pass decoded = networks_.decoder.forward(params.decoder, embeddings);

    if (supervision != nullptr) {
      const auto gradient = networks_.parts(supervision->gradient);
      const std::vector<double> by_embedding = networks_.decoder.backward(
          params.decoder, decoded, score_gradient(decoded.output(), supervision->targets),
          gradient.decoder, Mlp::InputGradient::kYes);
      const std::vector<double> by_features = networks_.size_encoder.backward(
          params.size_encoder, encoded, sum_sets_gradient(sets, by_embedding),
          gradient.size_encoder, Mlp::InputGradient::kYes);
      const std::vector<double> by_means = means_gradient(by_features);
      users.backward(by_means, gradient.user_encoder);
      items.backward(by_means, gradient.item_encoder);
    }
    return {decoded.output(), std::move(embeddings)};
  }

  Networks networks_;
  RankedSide users_;
  RankedSide items_;
};

}  // namespace

std::unique_ptr<FitnessPredictor> make_deepsets_predictor(const Frequencies& frequencies,
                                                          std::uint64_t seed) {
  return std::make_unique<DeepSetsPredictor>(frequencies, seed);
}

}  // namespace bet
