#pragma once

#include <string>

#include "model/row_adam.h"
#include "train/checkpoint.h"

namespace bet {

// Values and the moments of the optimiser that moves them, under the keys of
// train/parameter_state.h ("NAME moment1", "NAME moment2"). Loading throws if the shapes differ.
void save_moments(Checkpoint& checkpoint, const std::string& name, const at::Tensor& values,
                  RowAdam& adam);
void load_moments(const Checkpoint& checkpoint, const std::string& name, const at::Tensor& values,
                  RowAdam& adam);

// The same for the table of a single model, with the number of steps made.
void save_adam(Checkpoint& checkpoint, const std::string& name, const ModelParameters& table,
               RowAdam& adam);
void load_adam(const Checkpoint& checkpoint, const std::string& name, ModelParameters& table,
               RowAdam& adam);

}  // namespace bet
