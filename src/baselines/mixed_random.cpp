#include "search/method.h"

namespace bet {
namespace {

Proposal propose_mixed_random(const MethodInput& input) {
  return {
      .plans = {mixed_random_plan(input.shape, input.params.value(), input.training.model.seed)}};
}

}  // namespace

// MR: sizes drawn uniformly, regardless of frequency. The authors' draw exceeds the budget; here it
// is corrected to spend it exactly (plan/size_plan.h).
extern const MethodKind kMixedRandom;
const MethodKind kMixedRandom = {.name = "mr",
                                 .about = "mixed random sizes",
                                 .any_order = true,
                                 .proposes_one_plan = always_one_plan,
                                 .propose = propose_mixed_random};

}  // namespace bet
