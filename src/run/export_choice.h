#pragma once

#include <cstdint>

#include "base/precision.h"
#include "plan/size_plan.h"
#include "run/fit_options.h"

namespace bet {

// How a trained model is stored.
struct ExportChoice {
  TablePrecision precision;
  bool materialised = false;           // the propagated vectors instead of table and graph
  std::uint32_t layers_in_vector = 0;  // BackboneKind's
  bool with_seen = true;               // the items that users have; a graph is made of them
};

// As the options say, of a model that was trained in this precision and form; seen items are kept
// unless the options drop them.
ExportChoice export_choice(const FitOptions& options, const TablePrecision& trained,
                           StoredForm form);

// Bytes of the two row sections under a plan: what a byte budget is a promise on.
std::uint64_t exported_table_bytes(const SizePlan& plan, const ExportChoice& choice);

}  // namespace bet
