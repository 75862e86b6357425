#include "base/backbone_traits.h"

#include "base/error.h"

namespace bet {
namespace {

constexpr bool ids_are_indices() {
  for (std::size_t i = 0; i < kBackboneTraits.size(); ++i) {
    if (static_cast<std::size_t>(kBackboneTraits[i].id) != i) return false;
  }
  return true;
}
static_assert(ids_are_indices());

constexpr bool weights_ascend_and_tell_the_width() {
  for (const BackboneTraits& traits : kBackboneTraits) {
    bool has_width = traits.weights.empty();
    for (std::size_t i = 0; i < traits.weights.size(); ++i) {
      const MatrixShape& shape = traits.weights[i];
      if (i > 0 && traits.weights[i - 1].name >= shape.name) return false;
      has_width = has_width || shape.rows.widths > 0 || shape.columns.widths > 0;
    }
    if (!has_width) return false;
  }
  return true;
}
static_assert(weights_ascend_and_tell_the_width());

}  // namespace

const BackboneTraits& backbone_traits(std::string_view name) {
  for (const BackboneTraits& traits : kBackboneTraits) {
    if (traits.name == name) return traits;
  }
  fail("unknown backbone ", in_quotes(name), "; there are ", backbone_names());
}

std::string backbone_names() {
  std::string names;
  for (const BackboneTraits& traits : kBackboneTraits) {
    names += names.empty() ? "" : ", ";
    names += traits.name;
  }
  return names;
}

}  // namespace bet
