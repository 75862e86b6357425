#pragma once

#include <ATen/core/Tensor.h>

#include "data/split.h"
#include "model/graph.h"
#include "model/masked_table.h"
#include "train/metrics.h"

namespace bet {

enum class HeldOut { kValidation, kTest };

// Full ranking: the score of every item for every user with held-out items, by the dot product of
// their rows in `vectors` (float [users + items, stride], of which `columns` are the model's own);
// items that the user has in `seen` (the graph the model was trained on, on the same device) are
// left out, ties go to the lower item. Exact, and the same for any number of threads.
Metrics evaluate(const at::Tensor& vectors, const ModelColumns& columns, const Split& split,
                 HeldOut held_out, const Graph& seen);

}  // namespace bet
