#pragma once

#include "model/backbone.h"

namespace bet {

// Matrix factorisation: the table's rows are the vectors.
class Mf final : public Backbone {
 public:
  at::Tensor vectors(const MaskedTable& table,
                     const std::vector<std::uint32_t>* /*needed*/) const override {
    return table.values;
  }
};

}  // namespace bet
