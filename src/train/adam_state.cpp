#include "train/adam_state.h"

#include "base/error.h"

namespace bet {

void save_adam(Checkpoint& checkpoint, const std::string& name, const ModelParameters& table,
               RowAdam& adam) {
  checkpoint.tensors[name] = table.values.cpu();
  checkpoint.tensors[name + " moment1"] = adam.moment1().cpu();
  checkpoint.tensors[name + " moment2"] = adam.moment2().cpu();
  checkpoint.numbers[name + " steps"] = static_cast<double>(adam.records().at(0).steps);
}

void restore_adam(const Checkpoint& checkpoint, const std::string& name, ModelParameters& table,
                  RowAdam& adam) {
  const auto copy = [&](at::Tensor& to, const std::string& what) {
    const at::Tensor& from = checkpoint.tensor(what);
    BET_CHECK(to.sizes() == from.sizes(), "checkpoint of another table: ", what, " has ",
              from.size(0), " x ", from.size(1), " values, not ", to.size(0), " x ", to.size(1));
    to.copy_(from);
  };
  copy(table.values, name);
  copy(adam.moment1(), name + " moment1");
  copy(adam.moment2(), name + " moment2");
  StepRecord record;
  record.steps = static_cast<std::uint64_t>(checkpoint.number(name + " steps"));
  adam.set_records({record});
}

}  // namespace bet
