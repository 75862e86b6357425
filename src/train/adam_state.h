#pragma once

#include <string>

#include "model/row_adam.h"
#include "train/checkpoint.h"

namespace bet {

// A table of a single model and the optimiser that moves it, under a name, and back. Throws on one
// of another shape.
void save_adam(Checkpoint& checkpoint, const std::string& name, const ModelParameters& table,
               RowAdam& adam);
void restore_adam(const Checkpoint& checkpoint, const std::string& name, ModelParameters& table,
                  RowAdam& adam);

}  // namespace bet
