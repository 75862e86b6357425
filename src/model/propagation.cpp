#include "model/propagation.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"
#include "model/executor.h"
#include "model/tensor_pointers.h"

namespace bet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Rows of a layer, in full or in half length.
void set_in(GatherArgs& args, const at::Tensor& rows) {
  args.in = nullptr;
  args.in_bf16 = nullptr;
  if (rows.scalar_type() == at::kShort) {
    args.in_bf16 = half_words(rows);
  } else {
    args.in = rows.data_ptr<float>();
  }
}
void set_out(GatherArgs& args, const at::Tensor& rows) {
  args.out = nullptr;
  args.out_bf16 = nullptr;
  if (rows.scalar_type() == at::kShort) {
    args.out_bf16 = half_words(rows);
  } else {
    args.out = rows.data_ptr<float>();
  }
}

// (x + A x + A^2 x + A^3 x) / 4 by Horner's rule, h <- x + A h. What is kept between the layers is
// S h, S the inverse root degrees: then A = S (0/1 matrix) S needs no weight per edge.
// `touched_in`: x is zero in other rows. `touched_out`: other rows of the result are not needed.
at::Tensor mean_of_layers(const at::Tensor& x, const Graph& graph, RowPrecision precision,
                          const at::Tensor* touched_in, const at::Tensor* touched_out) {
  Executor& executor = executor_for(x.device());
  const auto num_rows = static_cast<std::size_t>(graph.num_nodes());
  const auto type = precision == RowPrecision::kBfloat16 ? at::kShort : at::kFloat;
  const at::Tensor h1 = at::empty(x.sizes(), x.options().dtype(type));
  const at::Tensor h2 = at::empty(x.sizes(), x.options().dtype(type));
  at::Tensor result = at::empty_like(x);
  GatherArgs args;
  args.offsets = u64_data(graph.offsets);
  args.columns = u32_data(graph.columns);
  args.stride = static_cast<std::uint32_t>(x.size(1));
  args.past_cache = x.numel() * static_cast<std::int64_t>(sizeof(float)) > kLargeTable;
  args.base = x.data_ptr<float>();
  args.base_scale = graph.inverse_root.data_ptr<float>();
  args.sum_scale = graph.inverse_degree.data_ptr<float>();
  args.column_weight = graph.inverse_root.data_ptr<float>();
  if (touched_in != nullptr) args.in_touched = args.base_touched = bytes(*touched_in);
  set_in(args, x);
  set_out(args, h1);
  executor.gather_rows(args, num_rows);

  args.in_touched = nullptr;
  args.column_weight = nullptr;
  set_in(args, h1);
  set_out(args, h2);
  executor.gather_rows(args, num_rows);

  args.base_scale = graph.quarter.data_ptr<float>();
  args.sum_scale = graph.quarter_root.data_ptr<float>();
  // On the GPU the batch is still being drawn when its rows' vectors are computed.
  if (touched_out != nullptr && x.is_cpu()) args.needed = bytes(*touched_out);
  set_in(args, h2);
  set_out(args, result);
  executor.gather_rows(args, num_rows);
  return result;
}

class Propagate : public torch::autograd::Function<Propagate> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& table, const Graph* graph,
                            RowPrecision precision, const at::Tensor* touched) {
    context->saved_data["graph"] = reinterpret_cast<std::int64_t>(graph);
    context->saved_data["precision"] = static_cast<std::int64_t>(precision);
    context->saved_data["touched"] = reinterpret_cast<std::int64_t>(touched);
    return mean_of_layers(table, *graph, precision, nullptr, touched);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto* graph = reinterpret_cast<const Graph*>(context->saved_data["graph"].toInt());
    const auto precision = static_cast<RowPrecision>(context->saved_data["precision"].toInt());
    const auto* touched =
        reinterpret_cast<const at::Tensor*>(context->saved_data["touched"].toInt());
    return {mean_of_layers(gradients[0].contiguous(), *graph, precision, touched, nullptr),
            at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor propagate(const at::Tensor& table, const Graph& graph, RowPrecision precision,
                     const at::Tensor* touched) {
  BET_CHECK(table.dim() == 2 && table.size(0) == graph.num_nodes() && table.is_contiguous(),
            "propagation of a table of ", table.size(0), " rows over ", graph.num_nodes(),
            " nodes");
  BET_CHECK(table.device() == graph.device(), "propagation of a table on ", table.device().str(),
            " over a graph on ", graph.device().str());
  BET_CHECK(touched == nullptr || touched->size(0) == graph.num_nodes(), "propagation with marks ",
            "for ", touched->size(0), " of ", graph.num_nodes(), " nodes");
  return Propagate::apply(table, &graph, precision, touched);
}

}  // namespace bet
