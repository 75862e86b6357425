#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <string_view>

#include "model/graph.h"
#include "model/masked_table.h"
#include "model/propagation.h"

namespace bet {

// A recommender on top of a masked table: what turns the table into the vectors whose dot products
// are scores.
class Backbone {
 public:
  virtual ~Backbone() = default;

  // float [users + items, stride] with a gradient for `values`, the table's. With `touched` (uint8,
  // by row) only rows that are not 0 there are asked for; it must outlive the backward pass.
  virtual at::Tensor vectors(const at::Tensor& values,
                             const at::Tensor* touched = nullptr) const = 0;
};

// "mf": the table itself. "lightgcn": three layers over `graph`, which must outlive the backbone.
// Throws on other names.
std::unique_ptr<Backbone> make_backbone(std::string_view name, const Graph& graph,
                                        RowPrecision precision);

}  // namespace bet
