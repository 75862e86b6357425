#include "baselines/size_agent.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/random.h"

namespace bet {
namespace {

constexpr std::size_t kWalkSteps = 5;
constexpr double kNoise = 6;  // deviation of the exploration, in sizes

// On the device of `like`.
template <typename T>
at::Tensor tensor_of(const std::vector<T>& values, at::ScalarType type, const at::Tensor& like) {
  return at::tensor(values, at::TensorOptions(type)).to(like.device());
}

at::Tensor scaled_frequencies(std::span<const std::uint32_t> frequencies, const at::Tensor& like) {
  const auto [least, most] = std::minmax_element(frequencies.begin(), frequencies.end());
  const double range = std::max(1.0, static_cast<double>(*most) - *least);
  std::vector<float> scaled;
  for (const std::uint32_t frequency : frequencies) {
    scaled.push_back(static_cast<float>(2.0 * (frequency - *least) / range - 1.0));
  }
  return tensor_of(scaled, at::kFloat, like);
}

at::Tensor states_of(const at::Tensor& frequencies, const at::Tensor& sizes,
                     const at::Tensor& qualities, const at::Tensor& peaks,
                     const SizeAgent::Options& options) {
  const double range = options.highest - options.lowest;
  return at::stack({frequencies, 2 * (sizes - static_cast<double>(options.lowest)) / range - 1,
                    (2 * qualities / peaks - 1).clamp(-1, 1)},
                   1);
}

Td3Agent::Options agent_options(const SizeAgent::Options& options) {
  Td3Agent::Options agent;
  agent.state_size = 3;
  agent.lowest = options.lowest;
  agent.highest = options.highest;
  agent.max_updates = options.max_trainings;
  return agent;
}

}  // namespace

std::uint32_t walk_step(std::uint32_t size, std::uint32_t lowest, std::uint32_t highest,
                        double uniform) {
  const std::uint32_t first = std::max(lowest + kWalkReach, size) - kWalkReach;
  const std::uint32_t last = std::min(highest, size + kWalkReach);
  const auto weight = [&](std::uint32_t other) {
    return other == size ? 0.0 : 1.0 / (other < size ? size - other : other - size);
  };
  double left = 0;
  for (std::uint32_t other = first; other <= last; ++other) left += weight(other);
  left *= uniform;
  std::uint32_t chosen = size;
  for (std::uint32_t other = first; other <= last && left > 0; ++other) {
    if (other == size) continue;
    chosen = other;
    left -= weight(other);
  }
  return chosen;
}

SizeAgent::SizeAgent(const Options& options, std::span<const std::uint32_t> frequencies,
                     const at::Tensor& peaks)
    : options_(options),
      frequencies_(scaled_frequencies(frequencies, peaks)),
      peaks_(peaks),
      sizes_(at::zeros({static_cast<std::int64_t>(options.max_trainings) + 1, peaks.size(0)},
                       peaks.options())),
      qualities_(at::zeros(sizes_.sizes(), peaks.options())),
      agent_(agent_options(options), options.seed, "ciess " + options.name, peaks.device()) {
  BET_CHECK(frequencies_.size(0) == num_rows(), frequencies_.size(0), " frequencies for ",
            num_rows(), " rows");
  sizes_[0].fill_(static_cast<double>(options.highest));
}

at::Tensor SizeAgent::states() const {
  const auto before = static_cast<std::int64_t>(row_before(num_trainings_));
  return states_of(frequencies_, sizes_[before], qualities_[before], peaks_, options_);
}

std::vector<std::uint16_t> SizeAgent::choose() const {
  const at::Tensor now = states();
  const at::Tensor proto = agent_.actions(now).round().cpu();
  const auto rows = static_cast<std::size_t>(num_rows());
  std::vector<float> visited(proto.data_ptr<float>(), proto.data_ptr<float>() + rows);
  RandomStream random(options_.seed, "ciess walk " + options_.name, num_trainings_);
  for (std::size_t i = 0; i < kWalkSteps * rows; ++i) {
    visited.push_back(
        static_cast<float>(walk_step(static_cast<std::uint32_t>(visited[i]), options_.lowest,
                                     options_.highest, random.uniform())));
  }
  const at::Tensor walk = tensor_of(visited, at::kFloat, peaks_).view({-1, num_rows()});
  at::Tensor best = walk[0];
  at::Tensor most = agent_.values(now, best);
  for (std::int64_t step = 1; step < walk.size(0); ++step) {
    const at::Tensor value = agent_.values(now, walk[step]);
    best = at::where(value > most, walk[step], best);
    most = at::maximum(value, most);
  }
  RandomStream noise(options_.seed, "ciess noise " + options_.name, num_trainings_);
  const at::Tensor chosen =
      (best + kNoise * noise.normal())
          .round()
          .clamp(static_cast<double>(options_.lowest), static_cast<double>(options_.highest))
          .cpu();
  return {chosen.data_ptr<float>(), chosen.data_ptr<float>() + rows};
}

void SizeAgent::learn(std::span<const std::uint16_t> sizes, const at::Tensor& qualities) {
  BET_CHECK(num_trainings_ < options_.max_trainings, "training ", num_trainings_ + 1, " of ",
            options_.max_trainings);
  const auto row = static_cast<std::int64_t>(num_trainings_ + 1);
  sizes_[row].copy_(tensor_of(std::vector<float>(sizes.begin(), sizes.end()), at::kFloat, peaks_));
  qualities_[row].copy_(qualities);
  ++num_trainings_;
  agent_.update(experience());
}

Td3Agent::Experience SizeAgent::experience() const {
  RandomStream random(options_.seed, "ciess replay " + options_.name, num_trainings_);
  const auto replayed = static_cast<std::uint32_t>(std::min(num_trainings_, kReplay));
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> places_before;
  std::vector<std::int64_t> places_after;
  for (std::int64_t i = 0; i < options_.batch; ++i) {
    const std::uint64_t training = num_trainings_ - replayed + random.below(replayed);
    const std::int64_t row = random.below(static_cast<std::uint32_t>(num_rows()));
    rows.push_back(row);
    places_before.push_back(static_cast<std::int64_t>(row_before(training)) * num_rows() + row);
    places_after.push_back(static_cast<std::int64_t>(training + 1) * num_rows() + row);
  }
  const at::Tensor row = tensor_of(rows, at::kLong, peaks_);
  const at::Tensor before = tensor_of(places_before, at::kLong, peaks_);
  const at::Tensor after = tensor_of(places_after, at::kLong, peaks_);
  const auto states_at = [&](const at::Tensor& indices) {
    return states_of(frequencies_.index_select(0, row), sizes_.view(-1).index_select(0, indices),
                     qualities_.view(-1).index_select(0, indices), peaks_.index_select(0, row),
                     options_);
  };
  const at::Tensor chosen = sizes_.view(-1).index_select(0, after);
  const at::Tensor memory = ((chosen - 1) / static_cast<double>(options_.highest)).square();
  return {.states = states_at(before),
          .actions = chosen,
          .rewards = qualities_.view(-1).index_select(0, after) - options_.memory_weight * memory,
          .next_states = states_at(after)};
}

std::vector<std::uint16_t> SizeAgent::sizes_of(std::uint64_t training) const {
  const at::Tensor sizes = sizes_[static_cast<std::int64_t>(training + 1)].cpu();
  return {sizes.data_ptr<float>(), sizes.data_ptr<float>() + num_rows()};
}

void SizeAgent::save(Checkpoint& checkpoint) const {
  const auto end = static_cast<std::int64_t>(num_trainings_ + 1);
  checkpoint.tensors[options_.name + " sizes"] = sizes_.slice(0, 0, end).cpu();
  checkpoint.tensors[options_.name + " qualities"] = qualities_.slice(0, 0, end).cpu();
  agent_.save(checkpoint, options_.name);
}

void SizeAgent::restore(const Checkpoint& checkpoint) {
  const at::Tensor& sizes = checkpoint.tensor(options_.name + " sizes");
  BET_CHECK(sizes.size(0) <= sizes_.size(0) && sizes.size(1) == num_rows(),
            "checkpoint of another search: ", options_.name, " have ", sizes.size(0) - 1,
            " trainings of ", sizes.size(1), " rows");
  sizes_.slice(0, 0, sizes.size(0)).copy_(sizes);
  qualities_.slice(0, 0, sizes.size(0)).copy_(checkpoint.tensor(options_.name + " qualities"));
  num_trainings_ = static_cast<std::uint64_t>(sizes.size(0) - 1);
  agent_.restore(checkpoint, options_.name);
}

}  // namespace bet
