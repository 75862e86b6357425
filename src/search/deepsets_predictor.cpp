#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "search/fitness_predictor.h"
#include "search/mlp.h"

namespace bet {
namespace {

constexpr std::size_t kCode = 16;

// The rows of one side ranked by frequency, in groups of equal frequency.
struct RankedSide {
  std::vector<double> inputs;           // by group: log(1 + f) / log(1 + largest)
  std::vector<double> counts;           // by group: its rows
  std::vector<std::size_t> group_of;    // by rank, and one past the last
  std::vector<std::size_t> first_rank;  // by group, and one past the last

  explicit RankedSide(const std::vector<std::uint32_t>& frequencies) {
    std::map<std::uint32_t, std::size_t, std::greater<>> count_of;
    for (const std::uint32_t frequency : frequencies) ++count_of[frequency];
    const double largest = count_of.empty() ? 1.0 : std::max(1.0, 1.0 * count_of.begin()->first);
    for (const auto& [frequency, count] : count_of) {
      first_rank.push_back(group_of.size());
      group_of.insert(group_of.end(), count, inputs.size());
      inputs.push_back(std::log1p(frequency) / std::log1p(largest));
      counts.push_back(static_cast<double>(count));
    }
    first_rank.push_back(group_of.size());
    group_of.push_back(inputs.size());
  }
};

// The rows of each set on one side: from rank `begin` up to rank `end`.
struct Stretches {
  std::vector<std::size_t> begin, end;

  void add(std::size_t first, std::size_t count) {
    begin.push_back(first);
    end.push_back(first + count);
  }
  std::size_t size() const { return begin.size(); }
  double count(std::size_t set) const { return static_cast<double>(end[set] - begin[set]); }
};

// The sets of several plans that have a row: each holds the rows of one size of one plan.
struct Sets {
  Stretches users, items;
  std::vector<std::size_t> plan;
  std::vector<double> size;    // log d / log max_dim
  std::vector<double> weight;  // share of the rows: both sides count alike

  void add_plan(const SizePlan& sizes, std::size_t number) {
    const TableShape& shape = sizes.shape();
    const double log_max = std::log(std::max(2U, shape.max_dim));
    const auto share = [](std::uint32_t part, std::uint64_t whole) {
      return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
    };
    // Sizes fall with the rank: the largest begins at rank 0, each where the one above ends.
    std::size_t user = 0;
    std::size_t item = 0;
    for (std::uint32_t d = shape.max_dim; d > 0; --d) {
      const std::uint32_t num_users = sizes.user_counts()[d];
      const std::uint32_t num_items = sizes.item_counts()[d];
      if (num_users + num_items == 0) continue;
      users.add(user, num_users);
      items.add(item, num_items);
      user += num_users;
      item += num_items;
      plan.push_back(number);
      size.push_back(std::log(d) / log_max);
      weight.push_back(0.5 *
                       (share(num_users, shape.num_users) + share(num_items, shape.num_items)));
    }
  }
};

// One side of all sets: encodes the frequencies, then takes each set's mean code.
class SideMeans {
 public:
  SideMeans(const Mlp& encoder, std::span<const double> params, const RankedSide& side,
            const Stretches& sets)
      : encoder_(encoder),
        params_(params),
        side_(side),
        sets_(sets),
        codes_(encoder.forward(params, side.inputs)) {
    // Sums over all rows before each group; a rank inside a group adds its code.
    const std::vector<double>& codes = codes_.output();
    std::vector<double> before((side.counts.size() + 1) * kCode);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      before[kCode + i] = before[i] + codes[i] * side.counts[i / kCode];
    }
    means_.resize(sets.size() * kCode);
    for (std::size_t set = 0; set < sets.size(); ++set) {
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

  // [sets, kCode]; zero for a set without a row on this side.
  const std::vector<double>& means() const { return means_; }

  // Adds the encoder's gradient, given that of the means.
  void backward(std::span<const double> means_gradient, std::span<double> gradient) const {
    const std::size_t num_groups = side_.counts.size();
    std::vector<double> before((num_groups + 1) * kCode);
    std::vector<double> codes(num_groups * kCode);
    for (std::size_t set = 0; set < sets_.size(); ++set) {
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
    // A group is before all later ones.
    for (std::size_t i = num_groups * kCode; i-- > 0;) {
      codes[i] += before[i + kCode] * side_.counts[i / kCode];
      before[i] += before[i + kCode];
    }
    encoder_.backward(params_, codes_, std::move(codes), gradient, Mlp::InputGradient::kNo);
  }

 private:
  // A set's sum is what comes before its end less what comes before its beginning.
  std::array<std::pair<std::size_t, double>, 2> ends(std::size_t set) const {
    const double scale = 1.0 / std::max(1.0, sets_.count(set));
    return {{{sets_.end[set], scale}, {sets_.begin[set], -scale}}};
  }

  const Mlp& encoder_;
  std::span<const double> params_;
  const RankedSide& side_;
  const Stretches& sets_;
  Mlp::Pass codes_;
  std::vector<double> means_;
};

// The paper's four perceptrons; their weights follow each other in this order.
struct Networks {
  Mlp user_encoder{{{1, 16}, {16, kCode}}};           // rho_U: a frequency
  Mlp item_encoder{{{1, 16}, {16, kCode}}};           // rho_V
  Mlp size_encoder{{{2 * kCode + 1, 64}, {64, 64}}};  // mu: a set and its size
  Mlp decoder{{{64, 64}, {64, 1, false}}};            // pi: the plan

  // Of any array of all weights.
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

class DeepSetsPredictor final : public FitnessPredictor {
 public:
  DeepSetsPredictor(const Frequencies& frequencies, std::uint64_t seed)
      : FitnessPredictor(Networks().draw(seed)),
        users_(frequencies.users),
        items_(frequencies.items) {}

 private:
  static constexpr std::size_t kSeen = 2 * kCode + 1;  // users' mean, items' mean, size
  static constexpr std::size_t kEmbedding = 64;

  Prediction forward(std::span<const double> all_params, std::span<const SizePlan* const> plans,
                     const Lesson* lesson) const override {
    const auto params = networks_.parts(all_params);
    Sets sets;
    for (std::size_t i = 0; i < plans.size(); ++i) sets.add_plan(*plans[i], i);
    const std::size_t num_sets = sets.plan.size();

    const SideMeans users(networks_.user_encoder, params.user_encoder, users_, sets.users);
    const SideMeans items(networks_.item_encoder, params.item_encoder, items_, sets.items);
    std::vector<double> seen(num_sets * kSeen);
    for (std::size_t set = 0; set < num_sets; ++set) {
      double* row = seen.data() + set * kSeen;
      std::copy_n(users.means().data() + set * kCode, kCode, row);
      std::copy_n(items.means().data() + set * kCode, kCode, row + kCode);
      row[2 * kCode] = sets.size[set];
    }
    const Mlp::Pass encoded = networks_.size_encoder.forward(params.size_encoder, std::move(seen));
    std::vector<double> embeddings(plans.size() * kEmbedding);
    for (std::size_t set = 0; set < num_sets; ++set) {
      for (std::size_t e = 0; e < kEmbedding; ++e) {
        embeddings[sets.plan[set] * kEmbedding + e] +=
            sets.weight[set] * encoded.output()[set * kEmbedding + e];
      }
    }
    const Mlp::Pass decoded = networks_.decoder.forward(params.decoder, embeddings);

    if (lesson != nullptr) {
      const auto gradient = networks_.parts(lesson->gradient);
      const std::vector<double> by_embedding = networks_.decoder.backward(
          params.decoder, decoded, score_gradient(decoded.output(), lesson->targets),
          gradient.decoder, Mlp::InputGradient::kYes);
      std::vector<double> by_set(num_sets * kEmbedding);
      for (std::size_t i = 0; i < by_set.size(); ++i) {
        const std::size_t set = i / kEmbedding;
        by_set[i] = sets.weight[set] * by_embedding[sets.plan[set] * kEmbedding + i % kEmbedding];
      }
      const std::vector<double> by_seen =
          networks_.size_encoder.backward(params.size_encoder, encoded, std::move(by_set),
                                          gradient.size_encoder, Mlp::InputGradient::kYes);
      const auto means = [&](std::size_t first) {
        std::vector<double> part(num_sets * kCode);
        for (std::size_t set = 0; set < num_sets; ++set) {
          std::copy_n(by_seen.data() + set * kSeen + first, kCode, part.data() + set * kCode);
        }
        return part;
      };
      users.backward(means(0), gradient.user_encoder);
      items.backward(means(kCode), gradient.item_encoder);
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
