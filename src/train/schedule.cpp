#include "train/schedule.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/backbone.h"

namespace bet {
double Schedule::rate_after(std::uint64_t step) const {
  if (linear) {
    const double done = static_cast<double>(step) / static_cast<double>(max_steps);
    return learning_rate * std::max(1.0 - done, 0.0);
  }
  const std::uint64_t times = step / decay_steps;
  return std::max(learning_rate * std::pow(decay, static_cast<double>(times)), lowest_rate);
}

bool Schedule::evaluates_at(std::uint64_t step) const {
  if (measure_steps > 0) return step % measure_steps == 0;
  for (const std::uint64_t sixteenths : {1, 2, 4, 8, 12, 16}) {
    if (step == std::max<std::uint64_t>(max_steps * sixteenths / 16, 1)) return true;
  }
  return false;
}

Schedule Schedule::of_length(std::uint64_t steps) const {
  Schedule same = *this;
  same.max_steps = steps;
  return same;
}

Schedule Schedule::final_schedule(std::uint64_t best_length, double best_rate, bool bears,
                                  std::uint64_t train_count, std::uint64_t final_count) const {
  const double growth = static_cast<double>(final_count) / static_cast<double>(train_count);
  const double wanted =
      std::round(static_cast<double>(best_length) * (final_by_passes ? growth : 1));
  Schedule final = of_length(std::min(static_cast<std::uint64_t>(wanted), max_steps));
  const double missing = wanted / static_cast<double>(final.max_steps);
  final.learning_rate *= bears && best_rate < 1 ? std::min(best_rate * missing, 1.0) : best_rate;
  return final;
}

void Schedule::validate() const {
  BET_CHECK(batch_size > 0 || user_passes > 0, "--batch-size must be positive");
  BET_CHECK(learning_rate > 0 && std::isfinite(learning_rate), "--learning-rate ", learning_rate,
            " must be positive");
  BET_CHECK(decay > 0 && decay <= 1 && decay_steps > 0, "learning-rate decay ", decay, " every ",
            decay_steps, " steps");
  BET_CHECK(patience > 0 && max_steps > 0, "patience and most steps must be positive; they are ",
            patience, " and ", max_steps);
}

Schedule named_schedule(std::string_view name, std::string_view backbone) {
  if (name == "paper") return {};
  if (name == "fast") {
    Schedule fast;
    fast.batch_size = 0;
    const FastTraining& own = find_backbone(backbone).fast;
    fast.user_passes = own.user_passes;
    fast.pool = kPool;
    fast.learning_rate = own.learning_rate;
    fast.weights_rate = own.weights_rate;
    fast.linear = true;
    fast.adam.beta1 = own.beta1;
    fast.adam.beta2 = own.beta2;
    fast.measure_steps = 0;
    fast.max_steps = own.max_steps;
    fast.final_by_passes = true;
    return fast;
  }
  fail("unknown schedule ", in_quotes(name), "; there are paper and fast");
}

}  // namespace bet
