#pragma once

#include <string>

#include "model/model_parameters.h"
#include "train/checkpoint.h"

namespace bet {

// Keys of a set of parameters in a checkpoint. The values lie under the name itself and the other
// tensors under the name and what they are ("best 0", "best 0 weights"). The parameters without a
// name, at most one set in a checkpoint, have the keys "table", "weights", "sizes" and "kept".

// Values and dense weights. Sizes and masks follow from the plan and are not saved.
void save_parameters(Checkpoint& checkpoint, const std::string& name,
                     const ModelParameters& parameters);
bool has_parameters(const Checkpoint& checkpoint, const std::string& name);
// Into parameters of the same plan, on their device. Throws if the shapes differ.
void load_parameters(const Checkpoint& checkpoint, const std::string& name,
                     ModelParameters& parameters);

// A single model with its sizes and its mask, without a name: no plan is needed to load it.
void save_model(Checkpoint& checkpoint, const ModelParameters& parameters);
ModelParameters load_model(const Checkpoint& checkpoint);

// The key of a tensor of the parameters `name`; `part` is "table" for the values.
std::string parameter_key(const std::string& name, const std::string& part);

}  // namespace bet
