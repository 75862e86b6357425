#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "baselines/td3_agent.h"

namespace bet {

// CIESS's graph of sizes links those at most so far apart; a random walk goes from one to another
// with a probability proportional to 1 / distance. One step from `size`; `uniform`, in (0, 1), says
// which. With no other size it stays.
constexpr std::uint32_t kWalkReach = 5;
std::uint32_t walk_step(std::uint32_t size, std::uint32_t lowest, std::uint32_t highest,
                        double uniform);

// How CIESS chooses the sizes of one side, users or items: one agent acts for all rows, each by its
// own state, and learns from every training how good its sizes were. Tensors on the device of
// `peaks`; one thread.
class SizeAgent {
 public:
  struct Options {
    std::string name;  // of its random streams
    std::uint32_t lowest = 1;
    std::uint32_t highest = 128;
    double memory_weight = 0;  // lambda: reward = quality - lambda ((size - 1) / highest)^2
    std::uint64_t max_trainings = 0;
    std::uint64_t seed = 1;
    std::int64_t batch = 4096;  // of an update
  };
  // Trainings of an episode, which begins with every row at the highest size and of quality 0; and
  // how many of the last trainings are learnt from.
  static constexpr std::uint64_t kEpisode = 11;
  static constexpr std::uint64_t kReplay = 100;

  // By row: training frequencies, and the quality in the full-size model, positive, float [rows].
  SizeAgent(const Options& options, std::span<const std::uint32_t> frequencies,
            const at::Tensor& peaks);

  // The sizes of the next training, the same for every call. For each row: a walk of five steps
  // from the actor's size, of which the size with the highest value of the first critic is taken;
  // then one random number for all rows, N(0, 6), is added, which the authors store with the sizes.
  std::vector<std::uint16_t> choose() const;

  // Records that the next training was made with these sizes and reached `qualities`, float [rows],
  // and makes one update.
  void learn(std::span<const std::uint16_t> sizes, const at::Tensor& qualities);

  std::uint64_t num_trainings() const { return num_trainings_; }
  std::vector<std::uint16_t> sizes_of(std::uint64_t training) const;

  // The actor's states before the next training, float [rows, 3], each from -1 to 1: frequency and
  // size, scaled from the lowest to the highest, and 2 quality / peak - 1.
  at::Tensor states() const;

  // What the next update learns from: trainings and rows drawn uniformly among the last kReplay
  // trainings.
  Td3Agent::Experience experience() const;

  // Under the agent's name.
  void save(Checkpoint& checkpoint) const;
  void restore(const Checkpoint& checkpoint);

 private:
  std::int64_t num_rows() const { return sizes_.size(1); }
  // The row of the history before a training: 0 at the beginning of an episode.
  static std::uint64_t row_before(std::uint64_t training) {
    return training % kEpisode == 0 ? 0 : training;
  }

  Options options_;
  at::Tensor frequencies_;  // scaled
  at::Tensor peaks_;
  // float [max_trainings + 1, rows]: row 0 is how an episode begins, row t + 1 training t.
  at::Tensor sizes_;
  at::Tensor qualities_;
  Td3Agent agent_;
  std::uint64_t num_trainings_ = 0;
};

}  // namespace bet
