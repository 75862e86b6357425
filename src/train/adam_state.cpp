#include "train/adam_state.h"

#include "train/parameter_state.h"

namespace bet {

void save_moments(Checkpoint& checkpoint, const std::string& name, const at::Tensor& values,
                  RowAdam& adam) {
  checkpoint.tensors[parameter_key(name, "table")] = values.cpu();
  checkpoint.tensors[parameter_key(name, "moment1")] = adam.moment1().cpu();
  checkpoint.tensors[parameter_key(name, "moment2")] = adam.moment2().cpu();
}

void load_moments(const Checkpoint& checkpoint, const std::string& name, const at::Tensor& values,
                  RowAdam& adam) {
  checkpoint.copy_tensor(parameter_key(name, "table"), values);
  checkpoint.copy_tensor(parameter_key(name, "moment1"), adam.moment1());
  checkpoint.copy_tensor(parameter_key(name, "moment2"), adam.moment2());
}

void save_adam(Checkpoint& checkpoint, const std::string& name, const ModelParameters& table,
               RowAdam& adam) {
  save_moments(checkpoint, name, table.values, adam);
  checkpoint.numbers[name + " steps"] = static_cast<double>(adam.records().at(0).steps);
}

void load_adam(const Checkpoint& checkpoint, const std::string& name, ModelParameters& table,
               RowAdam& adam) {
  load_moments(checkpoint, name, table.values, adam);
  StepRecord record;
  record.steps = static_cast<std::uint64_t>(checkpoint.number(name + " steps"));
  adam.set_records({record});
}

}  // namespace bet
