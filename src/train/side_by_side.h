#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>

#include "model/backbone.h"

namespace bet {

// The columns that a plan takes of a table in which several are trained side by side.
inline std::uint32_t columns_side_by_side(const SizePlan& plan, const BackboneKind& backbone) {
  return row_stride(plan.width() * backbone.tables);
}

// The most columns of such a table for which training plans together costs less than one after the
// other, and does not take much more memory than a table of full width; one plan alone may have
// more. Plans share the draws of a batch and the passes over the graph. A GPU has the bandwidth for
// wide rows; on a CPU the table should stay in the cache.
std::uint32_t most_columns_side_by_side(std::size_t num_rows, const at::Device& device);

}  // namespace bet
