#pragma once

#include <cstdint>
#include <string_view>

#include "train/triple_sampler.h"

namespace bet {

// How a model is trained: batches, learning rate, measurements.
struct Schedule {
  std::uint32_t batch_size = 10'000;
  BatchKind batch_kind = BatchKind::kUsers;
  double learning_rate = 0.03;   // of the first step
  double decay = 0.95;           // factor ...
  std::uint64_t decay_steps = 200;  // ... every so many steps
  double lowest_rate = 0.001;
  std::uint64_t measure_steps = 2'000;  // steps between measurements on validation
  std::uint32_t patience = 3;           // measurements without a better one that end the training
  std::uint64_t max_steps = 30'000;

  // Of the step that follows `step` steps.
  double rate_after(std::uint64_t step) const;

  void validate() const;
};

// "paper": METHOD section 6. "fast": the same quality in far fewer steps (docs/results.md). Throws on
// other names.
Schedule named_schedule(std::string_view name);

}  // namespace bet
