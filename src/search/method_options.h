#pragma once

#include <cstdint>
#include <optional>

namespace bet {

// How much time a run may take; sets what is not given.
enum class Effort { kQuick, kNormal, kThorough };

// What the search chooses plans by: the paper's predictor and its two ablations (Section 4.4).
enum class Selection { kDeepSets, kSimple, kRandom };

// How a method searches. Each method has some of these (MethodKind::options); none: its default.
struct MethodOptions {
  // bet: plans tried in addition to the rules; bet-paper: plans probed (T); ciess: models trained
  std::optional<std::uint32_t> iterations;
  std::optional<std::uint32_t> candidates;       // bet-paper: plans drawn for each choice (m)
  std::optional<std::uint32_t> finetune_epochs;  // bet-paper: epochs of a probe
  std::optional<std::uint32_t> retrain_top;      // bet: finalists; bet-paper: plans retrained
  std::optional<Selection> selection;            // bet-paper
  std::optional<double> user_share;              // sided: instead of the best on validation
  std::optional<double> memory_weight;           // ciess: of the sizes in the reward (lambda)
};

}  // namespace bet
