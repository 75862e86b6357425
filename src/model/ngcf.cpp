#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>

#include "base/random.h"
#include "model/backbone.h"
#include "model/bpr_loss.h"
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
// [2, stride, stride], then the bias. METHOD's two biases are only ever added: one stands for both.
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

// What a pass over the layers needs to know; of the backbone, which outlives it.
struct Network {
  const Graph* graph = nullptr;
  Layout layout{};
  at::Tensor scale;       // float [nodes]: 1 / (degree + 1), the rows of D^-1 (A + I)
  at::Tensor kept_scale;  // the same over the share of edges that are kept
  std::array<std::uint32_t, 2> key{};

  // Nothing is dropped without a record.
  Dropout dropout(double share, std::uint32_t purpose, const StepRecord* record) const {
    if (record == nullptr) return {};
    return {threshold_of(share), {key[0], key[1]}, purpose, record};
  }
  std::size_t num_rows() const { return static_cast<std::size_t>(graph->num_nodes()); }
  GatherArgs edges(const StepRecord* record) const {
    GatherArgs args;
    args.offsets = u64_data(graph->offsets);
    args.columns = u32_data(graph->columns);
    args.drop = dropout(kEdgeDropout, kEdges, record);
    return args;
  }
  const float* scales(const StepRecord* record) const {
    return (record != nullptr ? kept_scale : scale).data_ptr<float>();
  }
};

at::Tensor rows_like(const at::Tensor& table, std::int64_t columns) {
  return at::empty({table.size(0), columns}, table.options());
}

// x = [s, e * s] for s = D^-1 (A + I) e, in one pass over the edges.
at::Tensor mix_neighbours(const Network& network, const at::Tensor& e, const StepRecord* record) {
  const at::Tensor x = rows_like(e, 2 * e.size(1));
  GatherArgs args = network.edges(record);
  args.stride = static_cast<std::uint32_t>(e.size(1));
  args.in = args.base = args.product = e.data_ptr<float>();
  args.base_scale = args.sum_scale = network.scales(record);
  args.drop_base = record != nullptr;
  args.out = x.data_ptr<float>();
  args.past_cache = x.numel() * static_cast<std::int64_t>(sizeof(float)) > kLargeTable;
  executor_for(e.device()).gather_rows(args, network.num_rows());
  return x;
}

// The gradient for e from that for x, and `extra` for e itself.
at::Tensor mix_neighbours_back(const Network& network, const at::Tensor& gradient,
                               const at::Tensor& x, const at::Tensor& e, const at::Tensor& extra,
                               const StepRecord* record) {
  Executor& executor = executor_for(e.device());
  const at::Tensor s_gradient = at::empty(e.sizes(), e.options());
  const at::Tensor e_gradient = at::empty(e.sizes(), e.options());
  SplitArgs split;
  split.gradient = gradient.data_ptr<float>();
  split.x = x.data_ptr<float>();
  split.e = e.data_ptr<float>();
  split.scale = network.scales(record);
  if (extra.defined()) {
    split.extra = extra.data_ptr<float>();
    split.extra_stride = static_cast<std::uint32_t>(extra.stride(0));
  }
  split.columns = static_cast<std::uint32_t>(e.size(1));
  split.drop = network.dropout(kEdgeDropout, kEdges, record);
  split.s_gradient = s_gradient.data_ptr<float>();
  split.e_gradient = e_gradient.data_ptr<float>();
  executor.split_rows(split, network.num_rows());

  const at::Tensor result = at::empty(e.sizes(), e.options());
  GatherArgs args = network.edges(record);
  args.stride = split.columns;
  args.in = s_gradient.data_ptr<float>();
  args.column_weight = network.scales(record);
  args.base = e_gradient.data_ptr<float>();
  args.drop_transposed = true;
  args.out = result.data_ptr<float>();
  executor.gather_rows(args, network.num_rows());
  return result;
}

// Rows of `vectors` are concat(e, the layers' normalised outputs).
struct Layers {
  std::vector<at::Tensor> mixed;          // x, by layer
  std::vector<at::Tensor> hidden;         // h, by layer
  std::vector<at::Tensor> inverse_norms;  // by layer
  at::Tensor vectors;
};

Layers run_layers(const Network& network, const at::Tensor& values, const at::Tensor& weights,
                  const StepRecord* record) {
  const std::int64_t stride = network.layout.stride;
  Layers layers;
  const std::int64_t used = values.size(1) + kLayers * stride;
  layers.vectors = rows_like(values, row_stride(static_cast<std::uint32_t>(used)));
  layers.vectors.slice(1, 0, values.size(1)).copy_(values);
  if (used < layers.vectors.size(1)) layers.vectors.slice(1, used).zero_();
  at::Tensor e = values;
  for (std::int64_t layer = 0; layer < kLayers; ++layer) {
    const at::Tensor x = mix_neighbours(network, e, record);
    const at::Tensor weight =
        network.layout.both(weights, layer, e.size(1)).reshape({2 * e.size(1), stride});
    const at::Tensor h = rows_like(values, stride);
    multiply_rows(h, x, weight, network.layout.bias(weights, layer));
    const at::Tensor inverse_norms = at::empty({h.size(0)}, h.options());
    ActivateArgs args;
    args.in = args.hidden = h.data_ptr<float>();
    args.inverse_norms = inverse_norms.data_ptr<float>();
    args.normalised = layers.vectors.data_ptr<float>() + values.size(1) + layer * stride;
    args.normalised_stride = static_cast<std::uint32_t>(layers.vectors.size(1));
    args.columns = static_cast<std::uint32_t>(stride);
    args.drop = network.dropout(kMessageDropout, static_cast<std::uint32_t>(layer) + 1, record);
    executor_for(h.device()).activate_rows(args, network.num_rows());
    layers.mixed.push_back(x);
    layers.hidden.push_back(h);
    layers.inverse_norms.push_back(inverse_norms);
    e = h;
  }
  return layers;
}

// `vectors_gradient` begins at the layer's columns; `hidden_gradient` may be undefined.
at::Tensor activate_back(const Network& network, std::int64_t layer, const at::Tensor& hidden,
                         const at::Tensor& inverse_norms, const at::Tensor& vectors_gradient,
                         const at::Tensor& hidden_gradient, const StepRecord* record) {
  const at::Tensor result = at::empty(hidden.sizes(), hidden.options());
  ActivateBackArgs args;
  args.hidden = hidden.data_ptr<float>();
  args.inverse_norms = inverse_norms.data_ptr<float>();
  args.normalised_gradient = vectors_gradient.data_ptr<float>();
  args.normalised_stride = static_cast<std::uint32_t>(vectors_gradient.stride(0));
  if (hidden_gradient.defined()) args.hidden_gradient = hidden_gradient.data_ptr<float>();
  args.columns = static_cast<std::uint32_t>(hidden.size(1));
  args.drop = network.dropout(kMessageDropout, static_cast<std::uint32_t>(layer) + 1, record);
  args.out = result.data_ptr<float>();
  executor_for(hidden.device()).activate_back_rows(args, network.num_rows());
  return result;
}

// The layers with their gradient. Autograd would keep and pass over every intermediate of a layer;
// here each is a matrix product and two passes of our own.
class NgcfVectors : public torch::autograd::Function<NgcfVectors> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& values,
                            const at::Tensor& weights, const Network* network,
                            const StepRecord* record) {
    const Layers layers = run_layers(*network, values, weights, record);
    variable_list saved = {values, weights};
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
      saved.push_back(layers.mixed[layer]);
      saved.push_back(layers.hidden[layer]);
      saved.push_back(layers.inverse_norms[layer]);
    }
    context->save_for_backward(saved);
    context->saved_data["network"] = reinterpret_cast<std::int64_t>(network);
    context->saved_data["record"] = reinterpret_cast<std::int64_t>(record);
    return layers.vectors;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto& network = *reinterpret_cast<const Network*>(context->saved_data["network"].toInt());
    const auto* record = reinterpret_cast<const StepRecord*>(context->saved_data["record"].toInt());
    const at::Tensor& values = saved[0];
    const at::Tensor& weights = saved[1];
    const at::Tensor vectors_gradient = gradients[0].contiguous();
    const at::Tensor weights_gradient = at::zeros_like(weights);
    const std::int64_t stride = network.layout.stride;
    Executor& executor = executor_for(values.device());
    // The weights' gradients are made beside the rest, which needs none of them; what they read is
    // kept until they are done.
    std::vector<at::Tensor> kept;
    at::Tensor next;  // gradient of the layer's output from the layer above
    for (std::int64_t layer = kLayers - 1; layer >= 0; --layer) {
      const at::Tensor& x = saved[2 + 3 * layer];
      const at::Tensor& e = layer > 0 ? saved[3 * layer] : values;
      const at::Tensor y_gradient =
          activate_back(network, layer, saved[3 + 3 * layer], saved[4 + 3 * layer],
                        vectors_gradient.slice(1, values.size(1) + layer * stride), next, record);
      const std::int64_t inputs = e.size(1);
      kept.push_back(y_gradient);
      executor.run_concurrently([&] {
        kept.push_back(at::empty({2 * inputs, stride}, x.options()));
        multiply_transposed(kept.back(), x, y_gradient);
        network.layout.both(weights_gradient, layer, inputs)
            .copy_(kept.back().view({2, inputs, stride}));
        sum_rows(network.layout.bias(weights_gradient, layer), y_gradient);
      });
      const at::Tensor weight =
          network.layout.both(weights, layer, inputs).reshape({2 * inputs, stride});
      const at::Tensor x_gradient = rows_like(x, 2 * inputs);
      multiply_rows(x_gradient, y_gradient, weight.t());
      const at::Tensor own = layer == 0 ? vectors_gradient.slice(1, 0, inputs) : at::Tensor();
      next = mix_neighbours_back(network, x_gradient, x, e, own, record);
    }
    executor.join();
    return {next, weights_gradient, at::Tensor(), at::Tensor()};
  }
};

// NGCF (Wang et al., SIGIR'19) as METHOD section 6 has it. The regulariser of the final rows is one
// of the table's rows: the normalised layers have length 1 whatever their weights.
class Ngcf final : public Backbone {
 public:
  Ngcf(const ModelOptions& options, const Graph& graph) : dim_(options.dim) {
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

  at::Tensor loss(const ModelParameters& parameters, const TrainingPass& pass) const override {
    std::vector<at::Tensor> vectors;
    for (std::size_t model = 0; model < parameters.models.size(); ++model) {
      vectors.push_back(vectors_of(parameters, model, pass.record));
    }
    pass.executor.join();
    std::vector<at::Tensor> losses;
    for (const at::Tensor& of_model : vectors) {
      const ModelColumns all = {0, static_cast<std::uint32_t>(of_model.size(1))};
      losses.push_back(bpr_loss(of_model, std::span(&all, 1), pass.batch));
    }
    return losses.size() == 1 ? losses[0] : at::cat(losses);
  }

  Ranking ranking(const ModelParameters& parameters) const override {
    std::vector<Ranking> models;
    for (std::size_t model = 0; model < parameters.models.size(); ++model) {
      const at::Tensor vectors = vectors_of(parameters, model, nullptr);
      models.push_back({vectors, {Scoring(0, static_cast<std::uint32_t>(vectors.size(1)))}});
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
                             .fast = {.weights_rate = 0.03, .max_steps = 800},
                             .ciess = {.max_steps = 3'000, .decay_steps = 100},
                             .paper_probe_epochs = 1.5,
                             .workspace = 40,
                             .make = make}};

}  // namespace bet
