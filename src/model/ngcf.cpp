#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>

#include "base/random.h"
#include "model/backbone.h"
#include "model/batch_loss.h"
#include "model/dense_product.h"
#include "model/dense_weights.h"
#include "model/tensor_pointers.h"

namespace bet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kLayers = backbone_traits(BackboneId::kNgcf).layers;
constexpr double kEdgeDropout = 0.1;
constexpr double kMessageDropout = 0.1;
constexpr std::uint32_t kEdges = 0;  // purpose; those of the messages are their layers, from 1

std::uint32_t threshold_of(double share) { return static_cast<std::uint32_t>(share * 0x1p32); }

// Where a layer's weights lie: those of the neighbours' mean and of its product with the row
// [2, stride, stride], then the bias. NGCF's two biases are only added up: one stands for both.
struct Layout {
  std::int64_t stride;

  std::int64_t matrices() const { return 2 * stride * stride; }
  std::int64_t layer_size() const { return matrices() + stride; }
  std::int64_t size() const { return kLayers * layer_size(); }
  at::Tensor both(const at::Tensor& weights, std::int64_t layer, std::int64_t inputs) const {
    return weights.narrow(0, layer * layer_size(), matrices())
        .view({2, stride, stride})
        .slice(1, 0, inputs);
  }
  at::Tensor bias(const at::Tensor& weights, std::int64_t layer) const {
    return weights.narrow(0, layer * layer_size() + matrices(), stride);
  }
};

// What a pass over the layers needs; it belongs to the backbone, which outlives the pass.
struct Network {
  const Graph* graph = nullptr;
  Layout layout{};
  at::Tensor scale;       // float [nodes]: 1 / (degree + 1), the rows of D^-1 (A + I)
  at::Tensor kept_scale;  // the same over the share of edges that are kept
  std::array<std::uint32_t, 2> key{};
};

// One pass, forward or backward. Nothing is dropped without a record.
struct Pass {
  const Network& network;
  const StepRecord* record;

  std::size_t num_rows() const { return static_cast<std::size_t>(network.graph->num_nodes()); }
  Dropout edge_dropout() const { return dropout(kEdgeDropout, kEdges); }
  Dropout message_dropout(std::int64_t layer) const {
    return dropout(kMessageDropout, static_cast<std::uint32_t>(layer) + 1);
  }
  GatherArgs edges() const {
    GatherArgs args;
    args.offsets = u64_data(network.graph->offsets);
    args.columns = u32_data(network.graph->columns);
    args.drop = edge_dropout();
    return args;
  }
  const float* scales() const {
    return (record != nullptr ? network.kept_scale : network.scale).data_ptr<float>();
  }

 private:
  Dropout dropout(double share, std::uint32_t purpose) const {
    if (record == nullptr) return {};
    return {threshold_of(share), {network.key[0], network.key[1]}, purpose, record};
  }
};

at::Tensor rows_like(const at::Tensor& table, std::int64_t columns) {
  return at::empty({table.size(0), columns}, table.options());
}

// x = [s, e * s] for s = D^-1 (A + I) e, in one pass over the edges.
at::Tensor mix_neighbours(const Pass& pass, const at::Tensor& e) {
  at::Tensor x = rows_like(e, 2 * e.size(1));
  GatherArgs args = pass.edges();
  args.stride = static_cast<std::uint32_t>(e.size(1));
  args.in = args.base = args.product = e.data_ptr<float>();
  args.base_scale = args.sum_scale = pass.scales();
  args.drop_base = pass.record != nullptr;
  args.out = x.data_ptr<float>();
  args.past_cache = x.numel() * static_cast<std::int64_t>(sizeof(float)) > kLargeTable;
  executor_for(e.device()).gather_rows(args, pass.num_rows());
  return x;
}

// The gradient for e from that for x, and `extra` for e itself.
at::Tensor mix_neighbours_back(const Pass& pass, const at::Tensor& gradient, const at::Tensor& x,
                               const at::Tensor& e, const at::Tensor& extra) {
  Executor& executor = executor_for(e.device());
  const at::Tensor s_gradient = at::empty(e.sizes(), e.options());
  const at::Tensor e_gradient = at::empty(e.sizes(), e.options());
  SplitArgs split;
  split.gradient = gradient.data_ptr<float>();
  split.x = x.data_ptr<float>();
  split.e = e.data_ptr<float>();
  split.scale = pass.scales();
  if (extra.defined()) {
    split.extra = extra.data_ptr<float>();
    split.extra_stride = static_cast<std::uint32_t>(extra.stride(0));
  }
  split.columns = static_cast<std::uint32_t>(e.size(1));
  split.drop = pass.edge_dropout();
  split.s_gradient = s_gradient.data_ptr<float>();
  split.e_gradient = e_gradient.data_ptr<float>();
  executor.run_rows(split, pass.num_rows());

  at::Tensor result = at::empty(e.sizes(), e.options());
  GatherArgs args = pass.edges();
  args.stride = split.columns;
  args.in = s_gradient.data_ptr<float>();
  args.column_weight = pass.scales();
  args.base = e_gradient.data_ptr<float>();
  args.drop_transposed = true;
  args.out = result.data_ptr<float>();
  executor.gather_rows(args, pass.num_rows());
  return result;
}

// What the backward pass needs of a layer.
struct Layer {
  at::Tensor mixed;          // x
  at::Tensor hidden;         // h
  at::Tensor inverse_norms;  // 1 / |h|, by row
};

// Rows of `vectors` are concat(e, the layers' normalised outputs).
struct Layers {
  std::vector<Layer> layers;
  at::Tensor vectors;
};

Layers run_layers(const Pass& pass, const at::Tensor& values, const at::Tensor& weights) {
  const Layout& layout = pass.network.layout;
  const std::int64_t stride = layout.stride;
  Layers layers;
  const std::int64_t used = values.size(1) + kLayers * stride;
  layers.vectors = rows_like(values, row_stride(static_cast<std::uint32_t>(used)));
  layers.vectors.slice(1, 0, values.size(1)).copy_(values);
  if (used < layers.vectors.size(1)) layers.vectors.slice(1, used).zero_();
  at::Tensor e = values;
  for (std::int64_t layer = 0; layer < kLayers; ++layer) {
    const at::Tensor x = mix_neighbours(pass, e);
    const at::Tensor weight =
        layout.both(weights, layer, e.size(1)).reshape({2 * e.size(1), stride});
    const at::Tensor h = rows_like(values, stride);
    multiply_rows(h, x, weight, layout.bias(weights, layer));
    const at::Tensor inverse_norms = at::empty({h.size(0)}, h.options());
    ActivateArgs args;
    args.in = args.hidden = h.data_ptr<float>();
    args.inverse_norms = inverse_norms.data_ptr<float>();
    args.normalised = layers.vectors.data_ptr<float>() + values.size(1) + layer * stride;
    args.normalised_stride = static_cast<std::uint32_t>(layers.vectors.size(1));
    args.columns = static_cast<std::uint32_t>(stride);
    args.drop = pass.message_dropout(layer);
    executor_for(h.device()).run_rows(args, pass.num_rows());
    layers.layers.push_back({x, h, inverse_norms});
    e = h;
  }
  return layers;
}

// `vectors_gradient` begins at the layer's columns; `hidden_gradient` may be undefined.
at::Tensor activate_back(const Dropout& message_dropout, const Layer& layer,
                         const at::Tensor& vectors_gradient, const at::Tensor& hidden_gradient) {
  const at::Tensor& hidden = layer.hidden;
  at::Tensor result = at::empty(hidden.sizes(), hidden.options());
  ActivateBackArgs args;
  args.hidden = hidden.data_ptr<float>();
  args.inverse_norms = layer.inverse_norms.data_ptr<float>();
  args.normalised_gradient = vectors_gradient.data_ptr<float>();
  args.normalised_stride = static_cast<std::uint32_t>(vectors_gradient.stride(0));
  if (hidden_gradient.defined()) args.hidden_gradient = hidden_gradient.data_ptr<float>();
  args.columns = static_cast<std::uint32_t>(hidden.size(1));
  args.drop = message_dropout;
  args.out = result.data_ptr<float>();
  executor_for(hidden.device()).run_rows(args, static_cast<std::size_t>(hidden.size(0)));
  return result;
}

// The layers with their gradient. Autograd would store and read every intermediate result of a
// layer; here a layer is a matrix product and two passes of our own.
class NgcfVectors : public torch::autograd::Function<NgcfVectors> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& values,
                            const at::Tensor& weights, const Network* network,
                            const StepRecord* record) {
    const Layers run = run_layers({*network, record}, values, weights);
    variable_list saved = {values, weights};
    for (const Layer& layer : run.layers) {
      saved.insert(saved.end(), {layer.mixed, layer.hidden, layer.inverse_norms});
    }
    context->save_for_backward(saved);
    context->saved_data["network"] = reinterpret_cast<std::int64_t>(network);
    context->saved_data["record"] = reinterpret_cast<std::int64_t>(record);
    return run.vectors;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const Pass pass = {*reinterpret_cast<const Network*>(context->saved_data["network"].toInt()),
                       reinterpret_cast<const StepRecord*>(context->saved_data["record"].toInt())};
    const Layout& layout = pass.network.layout;
    const at::Tensor& values = saved[0];
    const at::Tensor& weights = saved[1];
    const at::Tensor vectors_gradient = gradients[0].contiguous();
    const at::Tensor weights_gradient = at::zeros_like(weights);
    const std::int64_t stride = layout.stride;
    Executor& executor = executor_for(values.device());
    // The weights' gradients are computed concurrently with the rest, which does not need them;
    // what they read must stay allocated until they are done.
    std::vector<at::Tensor> in_use;
    at::Tensor next;  // gradient of the layer's output from the layer above
    for (std::int64_t layer = kLayers - 1; layer >= 0; --layer) {
      const at::Tensor& x = saved[2 + 3 * layer];
      const at::Tensor& e = layer > 0 ? saved[3 * layer] : values;
      const at::Tensor y_gradient = activate_back(
          pass.message_dropout(layer), {x, saved[3 + 3 * layer], saved[4 + 3 * layer]},
          vectors_gradient.slice(1, values.size(1) + layer * stride), next);
      const std::int64_t inputs = e.size(1);
      in_use.push_back(y_gradient);
      executor.run_concurrently([&] {
        in_use.push_back(at::empty({2 * inputs, stride}, x.options()));
        multiply_transposed(in_use.back(), x, y_gradient);
        layout.both(weights_gradient, layer, inputs).copy_(in_use.back().view({2, inputs, stride}));
        sum_rows(layout.bias(weights_gradient, layer), y_gradient);
      });
      const at::Tensor weight = layout.both(weights, layer, inputs).reshape({2 * inputs, stride});
      const at::Tensor x_gradient = rows_like(x, 2 * inputs);
      multiply_rows(x_gradient, y_gradient, weight.t());
      const at::Tensor own = layer == 0 ? vectors_gradient.slice(1, 0, inputs) : at::Tensor();
      next = mix_neighbours_back(pass, x_gradient, x, e, own);
    }
    executor.join();
    return {next, weights_gradient, at::Tensor(), at::Tensor()};
  }
};

// NGCF (Wang et al., SIGIR'19) with three layers, as in the BET paper (Section 4.1). Its
// regulariser of the final rows is one of the table's rows: the normalised layers have length 1
// whatever their weights.
class Ngcf final : public Backbone {
 public:
  Ngcf(const ModelOptions& options, const Graph& graph) : options_(options), dim_(options.dim) {
    network_.graph = &graph;
    network_.layout.stride = row_stride(options.dim);
    const at::Tensor degrees = graph.offsets.slice(0, 1) - graph.offsets.slice(0, 0, -1);
    network_.scale = (degrees + 1).to(at::kFloat).reciprocal();
    network_.kept_scale = network_.scale / (1.0 - kEdgeDropout);
    network_.key = stream_key(options.seed, "dropout");
  }

  ModelParameters initial(std::span<const SizePlan> plans, std::uint64_t seed) const override {
    const TableShape& shape = plans[0].shape();
    ModelParameters table = make_table(
        plans, seed,
        {xavier_deviation(shape.num_users, dim_), xavier_deviation(shape.num_items, dim_)});
    add_weights(table, network_.layout.size());
    const std::int64_t dim = dim_;
    for (std::int64_t model = 0; model < table.weights.size(0); ++model) {
      for (std::int64_t layer = 0; layer < kLayers; ++layer) {
        const at::Tensor both = network_.layout.both(table.weights[model], layer, dim);
        const std::string name = "ngcf layer " + std::to_string(layer + 1);
        draw_xavier(both[0].slice(1, 0, dim), {dim, dim}, seed, name + " mean");
        draw_xavier(both[1].slice(1, 0, dim), {dim, dim}, seed, name + " product");
      }
    }
    return table;
  }

  at::Tensor loss_by_values(const ModelParameters& parameters,
                            const TrainingPass& pass) const override {
    std::vector<at::Tensor> vectors;
    for (std::size_t model = 0; model < parameters.models.size(); ++model) {
      vectors.push_back(vectors_of(parameters, model, pass.record));
    }
    pass.executor.join();
    const std::vector<LossOptions> options = options_.losses_of(vectors.size());
    std::vector<at::Tensor> losses;
    for (std::size_t model = 0; model < vectors.size(); ++model) {
      const ModelColumns all = {0, static_cast<std::uint32_t>(vectors[model].size(1))};
      losses.push_back(batch_loss(vectors[model], std::span(&all, 1), pass.batch,
                                  std::span(&options[model], 1)));
    }
    return losses.size() == 1 ? losses[0] : at::cat(losses);
  }

  Ranking ranking_by_values(const ModelParameters& parameters) const override {
    std::vector<Ranking> models;
    for (std::size_t model = 0; model < parameters.models.size(); ++model) {
      const at::Tensor vectors = vectors_of(parameters, model, nullptr);
      const ModelColumns all = {0, static_cast<std::uint32_t>(vectors.size(1))};
      models.push_back(ranking_of(vectors, std::span(&all, 1), options_.losses[0].score));
    }
    return side_by_side(models);
  }

  std::vector<NamedWeights> named_weights(const ModelParameters& parameters) const override {
    std::vector<NamedWeights> named;
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
      const std::string name = "layer" + std::to_string(layer + 1);
      const std::int64_t inputs = layer == 0 ? parameters.models[0].width : dim_;
      const at::Tensor& weights = parameters.weights[0];
      named.push_back(
          {name + ".weight", network_.layout.both(weights, layer, inputs).slice(2, 0, dim_)});
      named.push_back(
          {name + ".bias", network_.layout.bias(weights, layer).slice(0, 0, dim_).unsqueeze(0)});
    }
    return named;
  }

 private:
  at::Tensor vectors_of(const ModelParameters& parameters, std::size_t model,
                        const StepRecord* record) const {
    return NgcfVectors::apply(parameters.values_of(model),
                              parameters.weights[static_cast<std::int64_t>(model)], &network_,
                              record);
  }

  ModelOptions options_;
  std::uint32_t dim_;
  Network network_;
};

std::unique_ptr<Backbone> make(const ModelOptions& options, const Graph& graph) {
  return std::make_unique<Ngcf>(options, graph);
}

}  // namespace

extern const BackboneKind kNgcf;
const BackboneKind kNgcf = {backbone_traits(BackboneId::kNgcf),
                            {.l2 = 1e-3,
                             .multiplies = true,
                             .fast = {.weights_rate = 0.03, .max_steps = 800, .temperature = 3},
                             .ciess = {.max_steps = 3'000, .decay_steps = 100},
                             .paper_probe_epochs = 1.5,
                             .workspace = 40,
                             .make = make}};

}  // namespace bet
