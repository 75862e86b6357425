#include "model/quantised_rows.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "base/row_quantiser.h"
#include "model/executor.h"
#include "model/tensor_pointers.h"

namespace bet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class Quantise : public torch::autograd::Function<Quantise> {
 public:
  static at::Tensor forward(AutogradContext* /*context*/, const at::Tensor& values,
                            const ModelParameters* parameters) {
    at::Tensor out = room_for(values, parameters->models);
    QuantiseArgs args;
    args.in = values.data_ptr<float>();
    args.out = out.data_ptr<float>();
    if (parameters->kept.defined()) args.kept = parameters->kept.data_ptr<float>();
    args.stride = static_cast<std::uint32_t>(parameters->stride());
    args.num_users = static_cast<std::size_t>(parameters->num_users);
    const auto num_rows = static_cast<std::size_t>(parameters->num_rows());
    for (std::size_t model = 0; model < parameters->models.size(); ++model) {
      args.first_column = parameters->models[model].first;
      args.columns = row_stride(parameters->models[model].width);
      args.sizes = half_words(parameters->sizes) + model * num_rows;
      args.precision = parameters->precisions[model];
      executor_for(values.device()).run_rows(args, num_rows);
    }
    return out;
  }

  static variable_list backward(AutogradContext* /*context*/, variable_list gradients) {
    return {gradients[0], at::Tensor()};
  }
};

}  // namespace

at::Tensor quantised_rows(const ModelParameters& parameters) {
  const bool none = std::ranges::none_of(parameters.precisions, [](const TablePrecision& one) {
    return is_integer(one.users) || is_integer(one.items);
  });
  if (none) return parameters.values;
  return Quantise::apply(parameters.values, &parameters);
}

}  // namespace bet
