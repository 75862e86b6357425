#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "data/split.h"
#include "model/graph.h"
#include "model/held_out_items.h"
#include "model/scoring.h"
#include "train/metrics.h"
#include "train/user_hits.h"

namespace bet {

enum class HeldOut { kValidation, kTest };

// Full ranking: the score of every item for every user with held-out items, from their rows in
// `vectors` (float [users + items, stride]); items that the user has in `seen` (the graph the model
// was trained on, on the same device, which must outlive the evaluator) are left out, ties go to
// the lower item. Exact, and the same for any number of threads.
class Evaluator {
 public:
  Evaluator(const Split& split, HeldOut held_out, const Graph& seen);

  Metrics measure(const at::Tensor& vectors, const Scoring& scoring) const;

  // Users with held-out items, ascending, and the hits, the metrics and the score (Metrics::score)
  // of each by itself.
  std::span<const UserId> users() const { return held_.users; }
  std::vector<UserHits> user_hits(const at::Tensor& vectors, const Scoring& scoring) const;
  std::vector<Metrics> user_measures(const at::Tensor& vectors, const Scoring& scoring) const;
  std::vector<double> user_scores(const at::Tensor& vectors, const Scoring& scoring) const;

 private:
  const Graph& seen_;
  HeldOutItems held_;
};

// One measurement of one model.
inline Metrics evaluate(const at::Tensor& vectors, const Scoring& scoring, const Split& split,
                        HeldOut held_out, const Graph& seen) {
  return Evaluator(split, held_out, seen).measure(vectors, scoring);
}

}  // namespace bet
