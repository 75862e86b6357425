#pragma once

#include <cstdint>
#include <optional>

namespace bet {

// How much time a run may take; sets what is not given.
enum class Effort { kQuick, kNormal, kPaper };

// What the search chooses plans by: the paper's predictor and its two ablations (Section 4.4).
enum class Selection { kDeepSets, kSimple, kRandom };

// How a method searches. Each method has some of these (MethodKind::options); none: its default.
struct MethodOptions {
  std::optional<std::uint32_t> iterations;       // bet: plans probed (T); ciess: models trained
  std::optional<std::uint32_t> candidates;       // bet: plans drawn for each choice (m)
  std::optional<std::uint32_t> finetune_epochs;  // bet: epochs of a probe
  std::optional<std::uint32_t> retrain_top;      // bet: best plans that are retrained
  std::optional<Selection> selection;            // bet
  std::optional<double> user_share;              // sided: instead of the best on validation
  std::optional<double> memory_weight;           // ciess: of the sizes in the reward (lambda)
};

}  // namespace bet
