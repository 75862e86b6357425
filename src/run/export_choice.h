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

// As the options say, of a model whose rows were trained in this precision.
ExportChoice export_choice(const FitOptions& options, const TablePrecision& trained);

// Bytes of the two row sections under a plan: what a byte budget is a promise on.
std::uint64_t exported_table_bytes(const SizePlan& plan, const ExportChoice& choice);

}  // namespace bet
