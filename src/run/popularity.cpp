#include "run/popularity.h"

#include <ATen/ops/zeros.h>

#include "model/graph.h"

namespace bet {

UserQuality popularity_quality(const Split& split, TrainingPart part, HeldOut held_out) {
  const Graph graph = make_graph(split, part);
  // Vectors of one column, and of the width that the ranking reads.
  constexpr std::int64_t kStride = 8;
  const at::Tensor vectors = at::zeros({graph.num_nodes(), kStride});
  float* const values = vectors.data_ptr<float>();
  for (UserId user = 0; user < split.num_users(); ++user) {
    values[user * kStride] = 1;
    for (const ItemId item : items_of(split, part, user)) {
      values[(std::int64_t{split.num_users()} + item) * kStride] += 1;
    }
  }
  const Evaluator evaluator(split, held_out, graph);
  return {evaluator.users(), evaluator.user_hits(vectors, Scoring(0, 1))};
}

}  // namespace bet
