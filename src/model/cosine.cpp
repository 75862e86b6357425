#include "model/cosine.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>
#include <vector>

#include "model/executor.h"

namespace bet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class Normalise : public torch::autograd::Function<Normalise> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& vectors,
                            std::span<const ModelColumns> models, const at::Tensor* needed) {
    at::Tensor out = room_for(vectors, models);
    const at::Tensor inverse_norms =
        at::empty({static_cast<std::int64_t>(models.size()), vectors.size(0)}, vectors.options());
    NormaliseArgs args;
    args.in = vectors.data_ptr<float>();
    args.out = out.data_ptr<float>();
    args.needed = needed != nullptr ? needed->data_ptr<std::uint8_t>() : nullptr;
    args.stride = static_cast<std::uint32_t>(vectors.size(1));
    std::vector<std::int64_t> columns;
    for (std::size_t model = 0; model < models.size(); ++model) {
      args.inverse_norms = inverse_norms[static_cast<std::int64_t>(model)].data_ptr<float>();
      args.first_column = models[model].first;
      args.columns = row_stride(models[model].width);
      executor_for(vectors.device()).run_rows(args, static_cast<std::size_t>(vectors.size(0)));
      columns.insert(columns.end(), {models[model].first, models[model].width});
    }
    variable_list saved = {out, inverse_norms};
    if (needed != nullptr) saved.push_back(*needed);
    context->save_for_backward(std::move(saved));
    context->saved_data["columns"] = columns;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor gradient = gradients[0].contiguous();
    const std::vector<std::int64_t> columns = context->saved_data["columns"].toIntVector();
    std::vector<ModelColumns> models;
    for (std::size_t i = 0; i < columns.size(); i += 2) {
      models.push_back(
          {static_cast<std::uint32_t>(columns[i]), static_cast<std::uint32_t>(columns[i + 1])});
    }
    const at::Tensor in_gradient = room_for(gradient, models);
    NormaliseBackArgs args;
    args.out = saved[0].data_ptr<float>();
    args.needed = saved.size() > 2 ? saved[2].data_ptr<std::uint8_t>() : nullptr;
    args.gradient = gradient.data_ptr<float>();
    args.in_gradient = in_gradient.data_ptr<float>();
    args.stride = static_cast<std::uint32_t>(gradient.size(1));
    for (std::size_t model = 0; model < models.size(); ++model) {
      args.inverse_norms = saved[1][static_cast<std::int64_t>(model)].data_ptr<float>();
      args.first_column = models[model].first;
      args.columns = row_stride(models[model].width);
      executor_for(gradient.device()).run_rows(args, static_cast<std::size_t>(gradient.size(0)));
    }
    return {in_gradient, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor normalised(const at::Tensor& vectors, std::span<const ModelColumns> models,
                      const at::Tensor* needed) {
  return Normalise::apply(vectors, models, needed);
}

}  // namespace bet
