#pragma once

#include "model/backbone.h"

namespace bet {

// LightGCN (He et al., SIGIR'20): the mean of the table and of its three propagations.
class LightGcn final : public Backbone {
 public:
  LightGcn(const Graph& graph, RowPrecision precision) : graph_(graph), precision_(precision) {}

  at::Tensor vectors(const at::Tensor& values, const at::Tensor* touched) const override {
    return propagate(values, graph_, precision_, touched);
  }

 private:
  const Graph& graph_;
  RowPrecision precision_;
};

}  // namespace bet
