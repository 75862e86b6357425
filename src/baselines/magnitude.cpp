#include "baselines/kept_columns.h"
#include "search/method.h"

namespace bet {
namespace {

Proposal propose_magnitude(const MethodInput& input) {
  const Pretrained full = input.pretrained();
  return {.plans = {keep_highest(magnitudes(full.table.values, input.shape), input.shape,
                                 input.params.value())}};
}

}  // namespace

// Magnitude pruning: of the pretrained full-size table the largest values of all rows together are
// kept, and retrained from the values that the full-size training began with (as PEP's lottery
// ticket). Not a method of the paper.
extern const MethodKind kMagnitude;
const MethodKind kMagnitude = {.name = "magnitude",
                               .about = "the largest values of the full-size table",
                               .masks = true,
                               .empty_rows = true,
                               .pretrains = true,
                               .any_order = true,
                               .propose = propose_magnitude};

}  // namespace bet
