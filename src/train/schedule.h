#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/kernels.h"
#include "model/row_adam.h"
#include "train/batch_sampler.h"

namespace bet {

// How a model is trained: batches, learning rate, measurements.
struct Schedule {
  // Entries of a step: a fixed number, or user_passes for each user who has interactions.
  std::uint32_t batch_size = 10'000;  // 0: by user_passes
  std::uint32_t user_passes = 0;
  BatchKind batch_kind = BatchKind::kUsers;
  // 1: each entry has its own negative. Multiples of kPool: blocks of `pool` entries share `pool`
  // negatives.
  std::uint32_t pool = 1;
  std::uint32_t softmax_pool = 0;  // of a training by softmax; 0: as of any other

  // Learning rate: linear from learning_rate to 0 over max_steps, or times `decay` every
  // decay_steps and never below lowest_rate.
  double learning_rate = 0.03;
  bool linear = false;
  double decay = 0.95;
  std::uint64_t decay_steps = 200;
  double lowest_rate = 0.001;
  double weights_rate = 1;  // of a backbone's dense weights, as a multiple of the learning rate
  AdamOptions adam;

  // Steps between measurements on validation; 0: after 1/16, 1/8, 1/4, 1/2, 3/4 and all of
  // max_steps.
  std::uint64_t measure_steps = 2'000;
  // The training ends after this many measurements in a row without a better one. A linear decay
  // ignores it and always runs to its end: it gains most there, so a measurement in the middle says
  // little.
  std::uint32_t patience = 3;
  std::uint64_t max_steps = 30'000;

  // The final training, on more data, has the best number of passes over them instead of the best
  // number of steps (the paper's); max_steps at most.
  bool final_by_passes = false;

  // The learning rate of the step that follows `step` steps.
  double rate_after(std::uint64_t step) const;

  // Whether validation is measured after `step` steps.
  bool evaluates_at(std::uint64_t step) const;

  // The same schedule with another number of steps; a linear decay ends with the last of them.
  Schedule of_length(std::uint64_t steps) const;

  // The schedule of the final training on `final_count` interactions, where `best_length` steps
  // with `best_rate` times the rate were best on `train_count` interactions. Of a rate below the
  // schedule's more makes up for steps above max_steps, where the model `bears` that.
  Schedule final_schedule(std::uint64_t best_length, double best_rate, bool bears,
                          std::uint64_t train_count, std::uint64_t final_count) const;

  std::uint32_t pool_of(LossKind kind) const {
    return kind == LossKind::kSoftmax && softmax_pool > 0 ? softmax_pool : pool;
  }

  // Entries of a step on a graph in which `num_users` users have interactions.
  std::uint32_t entries_for(std::uint32_t num_users) const {
    return batch_size > 0 ? batch_size : user_passes * num_users;
  }

  void validate() const;
};

// "paper": the schedule of the BET paper's experiments. "fast": the same quality in far fewer steps
// (docs/results.md), with the backbone's own settings. Throws on other names.
Schedule named_schedule(std::string_view name, std::string_view backbone = "lightgcn");

}  // namespace bet
