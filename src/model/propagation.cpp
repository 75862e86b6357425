#include "model/propagation.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"
#include "kernels/kernels.h"
#include "model/parallel_chunks.h"

namespace bet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void run_gather(const GatherArgs& args, const Graph& graph) {
  parallel_chunks(static_cast<std::int64_t>(graph.chunks.size()) - 1, [&](std::int64_t chunk) {
    kernels().gather_rows(args, static_cast<std::size_t>(graph.chunks[chunk]),
                          static_cast<std::size_t>(graph.chunks[chunk + 1]));
  });
}

// As run_gather where rows of columns that are not needed are known to be zero: their entries are
// dropped first, a chunk at a time.
void run_sparse_gather(const GatherArgs& args, const Graph& graph,
                       const std::vector<std::uint32_t>& needed) {
  parallel_chunks(static_cast<std::int64_t>(graph.chunks.size()) - 1, [&](std::int64_t chunk) {
    const auto begin = static_cast<std::size_t>(graph.chunks[chunk]);
    const auto end = static_cast<std::size_t>(graph.chunks[chunk + 1]);
    thread_local std::vector<std::uint64_t> offsets;
    thread_local std::vector<std::uint32_t> columns;
    offsets.resize(end - begin + 1);
    columns.assign(args.offsets[end] - args.offsets[begin] + kColumnSlack, 0);
    std::uint64_t kept = 0;
    for (std::size_t row = begin; row < end; ++row) {
      offsets[row - begin] = kept;
      for (std::uint64_t e = args.offsets[row]; e < args.offsets[row + 1]; ++e) {
        columns[kept] = args.columns[e];
        kept += needed[args.columns[e]] != 0 ? 1 : 0;
      }
    }
    offsets[end - begin] = kept;
    GatherArgs sparse = args;
    sparse.offsets = offsets.data();
    sparse.first_row = begin;
    sparse.columns = columns.data();
    kernels().gather_rows(sparse, begin, end);
  });
}

// Results of this size do not stay in a last-level cache until the next layer reads them; writing
// them past it leaves it to the rows that are gathered.
constexpr std::int64_t kLargeTable = std::int64_t{24} << 20;

// Dropping entries pays only where a row is longer than the check.
constexpr std::uint32_t kSparseStride = 32;

// (x + A x + A^2 x + A^3 x) / 4 by Horner's rule, h <- x + A h. What is kept between the layers is
// S h, S the inverse root degrees: then A = S (0/1 matrix) S needs no weight per edge.
// `needed_in`: x is zero in other rows. `needed_out`: other rows of the result are not asked for.
at::Tensor mean_of_layers(const at::Tensor& x, const Graph& graph, RowPrecision precision,
                          const std::vector<std::uint32_t>* needed_in,
                          const std::vector<std::uint32_t>* needed_out) {
  BET_CHECK(x.is_cpu(), "propagation on device ", x.device().str(),
            ": this build runs on the CPU only");
  const bool half = precision == RowPrecision::kBfloat16;
  const auto rows = [&] {
    return half ? at::empty(x.sizes(), x.options().dtype(at::kShort)) : at::empty_like(x);
  };
  const at::Tensor h1 = rows();
  const at::Tensor h2 = rows();
  const at::Tensor result = at::empty_like(x);
  const auto set_in = [&](GatherArgs& args, const at::Tensor& t) {
    if (half) {
      args.in_bf16 = reinterpret_cast<const std::uint16_t*>(t.data_ptr<std::int16_t>());
      args.in = nullptr;
    } else {
      args.in = t.data_ptr<float>();
    }
  };
  const auto set_out = [&](GatherArgs& args, const at::Tensor& t) {
    if (half) {
      args.out_bf16 = reinterpret_cast<std::uint16_t*>(t.data_ptr<std::int16_t>());
    } else {
      args.out = t.data_ptr<float>();
    }
  };
  GatherArgs args;
  args.offsets = reinterpret_cast<const std::uint64_t*>(graph.offsets.data_ptr<std::int64_t>());
  args.columns = reinterpret_cast<const std::uint32_t*>(graph.columns.data_ptr<std::int32_t>());
  args.stride = static_cast<std::uint32_t>(x.size(1));
  args.past_cache = x.numel() * static_cast<std::int64_t>(sizeof(float)) > kLargeTable;
  args.base = x.data_ptr<float>();
  args.base_scale = graph.inverse_root.data_ptr<float>();
  if (needed_in != nullptr) args.base_needed = needed_in->data();
  args.sum_scale = graph.inverse_degree.data_ptr<float>();
  args.column_weight = graph.inverse_root.data_ptr<float>();
  args.in = x.data_ptr<float>();
  set_out(args, h1);
  if (needed_in != nullptr && args.stride >= kSparseStride) {
    run_sparse_gather(args, graph, *needed_in);
  } else {
    run_gather(args, graph);
  }

  args.column_weight = nullptr;
  set_in(args, h1);
  set_out(args, h2);
  run_gather(args, graph);

  args.base_scale = graph.quarter.data_ptr<float>();
  args.sum_scale = graph.quarter_root.data_ptr<float>();
  set_in(args, h2);
  args.out_bf16 = nullptr;
  args.out = result.data_ptr<float>();
  if (needed_out != nullptr) args.needed = needed_out->data();
  run_gather(args, graph);
  return result;
}

class Propagate : public torch::autograd::Function<Propagate> {
 public:
  using Needed = const std::vector<std::uint32_t>*;

  static at::Tensor forward(AutogradContext* context, const at::Tensor& table, const Graph* graph,
                            RowPrecision precision, Needed needed) {
    context->saved_data["graph"] = reinterpret_cast<std::int64_t>(graph);
    context->saved_data["precision"] = static_cast<std::int64_t>(precision);
    context->saved_data["needed"] = reinterpret_cast<std::int64_t>(needed);
    return mean_of_layers(table, *graph, precision, nullptr, needed);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto* graph = reinterpret_cast<const Graph*>(context->saved_data["graph"].toInt());
    const auto precision = static_cast<RowPrecision>(context->saved_data["precision"].toInt());
    const auto needed = reinterpret_cast<Needed>(context->saved_data["needed"].toInt());
    return {mean_of_layers(gradients[0].contiguous(), *graph, precision, needed, nullptr),
            at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor propagate(const at::Tensor& table, const Graph& graph, RowPrecision precision,
                     const std::vector<std::uint32_t>* needed) {
  BET_CHECK(table.dim() == 2 && table.size(0) == graph.num_nodes() && table.is_contiguous(),
            "propagation of a table of ", table.size(0), " rows over ", graph.num_nodes(),
            " nodes");
  BET_CHECK(needed == nullptr || static_cast<std::int64_t>(needed->size()) == graph.num_nodes(),
            "propagation with marks for ", needed->size(), " of ", graph.num_nodes(), " nodes");
  return Propagate::apply(table, &graph, precision, needed);
}

}  // namespace bet
