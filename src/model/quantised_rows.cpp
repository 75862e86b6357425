#include "model/quantised_rows.h"

#include <ATen/TensorOperators.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "base/row_quantiser.h"
#include "model/executor.h"
#include "model/tensor_pointers.h"

namespace bet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What is quantised of each model.
struct Quantised {
  const ModelParameters& parameters;
  StoredForm form;
  at::Tensor sizes;  // int16 [models, rows]
  at::Tensor kept;   // as ModelParameters::kept

  // In which precision; fp32: not at all.
  TablePrecision precision_of(std::size_t model) const {
    const bool is_it = parameters.stores_vectors(model) == (form == StoredForm::kVectors);
    return is_it ? parameters.precisions[model] : TablePrecision();
  }

  bool is_nothing() const {
    for (std::size_t model = 0; model < parameters.precisions.size(); ++model) {
      const TablePrecision precision = precision_of(model);
      if (is_integer(precision.users) || is_integer(precision.items)) return false;
    }
    return true;
  }
};

class Quantise : public torch::autograd::Function<Quantise> {
 public:
  static at::Tensor forward(AutogradContext* /*context*/, const at::Tensor& values,
                            const Quantised* what) {
    const ModelParameters& parameters = what->parameters;
    at::Tensor out = room_for(values, parameters.models);
    QuantiseArgs args;
    args.in = values.data_ptr<float>();
    args.out = out.data_ptr<float>();
    if (what->kept.defined()) args.kept = what->kept.data_ptr<float>();
    args.stride = static_cast<std::uint32_t>(parameters.stride());
    args.num_users = static_cast<std::size_t>(parameters.num_users);
    const auto num_rows = static_cast<std::size_t>(parameters.num_rows());
    for (std::size_t model = 0; model < parameters.models.size(); ++model) {
      args.first_column = parameters.models[model].first;
      args.columns = row_stride(parameters.models[model].width);
      args.sizes = half_words(what->sizes) + model * num_rows;
      args.precision = what->precision_of(model);
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
  const Quantised what = {parameters, StoredForm::kTable, parameters.sizes, parameters.kept};
  return what.is_nothing() ? parameters.values : Quantise::apply(parameters.values, &what);
}

at::Tensor quantised_vectors(const at::Tensor& vectors, const ModelParameters& parameters) {
  if (!parameters.vector_sizes.defined()) return vectors;
  const at::Tensor used =
      parameters.vector_kept.defined() ? vectors * parameters.vector_kept : vectors;
  const Quantised what = {parameters, StoredForm::kVectors, parameters.vector_sizes, {}};
  return what.is_nothing() ? used : Quantise::apply(used, &what);
}

}  // namespace bet
