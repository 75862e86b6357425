#include "base/error.h"
#include "ranks/gloo_ranks.h"

namespace bet {

std::unique_ptr<RankGroup> join_gloo_ranks(const c10::intrusive_ptr<c10d::Store>& /*store*/,
                                           const GlooOptions& options) {
  fail("a table over ", options.size,
       " ranks: this build has no Gloo (its headers, libgloo-dev, were missing, or LibTorch has "
       "none)");
}

}  // namespace bet
