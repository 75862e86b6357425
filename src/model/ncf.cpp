#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "base/error.h"
#include "kernels/neumf.h"
#include "model/backbone.h"
#include "model/dense_product.h"
#include "model/dense_weights.h"
#include "model/tensor_pointers.h"

namespace bet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// A row of the table holds two embeddings of size d, value by value: that of the products (GMF), g,
// at even columns, and that of the hidden layer (MLP), m, at odd ones. A score is
//   head_g . (g_u * g_v) + head_m . max(m_u W_u + bias + m_v W_v, 0):
// the hidden layer of the concatenation [m_u; m_v], split so that each side is computed once.

// Where a model's weights lie.
struct Layout {
  std::int64_t stride;  // row_stride(dim)

  std::int64_t size() const { return 2 * stride * stride + 3 * stride; }
  at::Tensor of_users(const at::Tensor& weights) const {
    return weight_matrix(weights, 0, stride, stride);
  }
  at::Tensor of_items(const at::Tensor& weights) const {
    return weight_matrix(weights, stride * stride, stride, stride);
  }
  at::Tensor bias(const at::Tensor& weights) const { return vector(weights, 0); }
  at::Tensor products(const at::Tensor& weights) const { return vector(weights, 1); }
  at::Tensor hidden(const at::Tensor& weights) const { return vector(weights, 2); }

 private:
  at::Tensor vector(const at::Tensor& weights, std::int64_t index) const {
    return weights.narrow(0, 2 * stride * stride + index * stride, stride);
  }
};

// One of a row's two embeddings; a view.
enum Part { kProducts = 0, kHidden = 1 };
at::Tensor part_of(const at::Tensor& rows, std::int64_t size, Part part) {
  return rows.slice(1, part, 2 * size, 2);
}

// LibTorch's copies of every other column are slow on the CPU, so these functions copy there
// themselves.
constexpr std::int64_t kGrain = 256;  // rows
constexpr std::int64_t kAhead = 4;    // rows by which a prefetch is ahead

// products[r], inputs[r] = the two embeddings of row index[r] of `table`; of row r without an
// index.
void deinterleave(const at::Tensor& table, const at::Tensor& index, at::Tensor products,
                  at::Tensor inputs) {
  const std::int64_t size = inputs.size(1);
  if (!table.is_cpu()) {
    const at::Tensor rows = index.defined() ? table.index_select(0, index) : table;
    products.copy_(part_of(rows, size, kProducts));
    inputs.copy_(part_of(rows, size, kHidden));
    return;
  }
  const float* const from = table.data_ptr<float>();
  const std::int32_t* const rows = index.defined() ? index.data_ptr<std::int32_t>() : nullptr;
  at::parallel_for(0, inputs.size(0), kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const float* const row = from + (rows != nullptr ? rows[r] : r) * table.size(1);
      if (rows != nullptr && r + kAhead < end) {
        const float* const next = from + rows[r + kAhead] * table.size(1);
        for (std::int64_t c = 0; c < 2 * size; c += 16) __builtin_prefetch(next + c);
      }
      float* const g = products.data_ptr<float>() + r * products.stride(0);
      float* const m = inputs.data_ptr<float>() + r * size;
      for (std::int64_t c = 0; c < size; ++c) {
        g[c] = row[2 * c];
        m[c] = row[2 * c + 1];
      }
    }
  });
}

// The inverse of deinterleave: float [rows, stride], zero behind the embeddings.
at::Tensor interleave(const at::Tensor& products, const at::Tensor& inputs, std::int64_t stride) {
  const std::int64_t size = inputs.size(1);
  if (!products.is_cpu()) {
    at::Tensor rows = at::zeros({inputs.size(0), stride}, inputs.options());
    part_of(rows, size, kProducts).copy_(products);
    part_of(rows, size, kHidden).copy_(inputs);
    return rows;
  }
  at::Tensor rows = at::empty({inputs.size(0), stride}, inputs.options());
  at::parallel_for(0, inputs.size(0), kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const float* const g = products.data_ptr<float>() + r * products.stride(0);
      const float* const m = inputs.data_ptr<float>() + r * size;
      float* const row = rows.data_ptr<float>() + r * stride;
      for (std::int64_t c = 0; c < size; ++c) {
        row[2 * c] = g[c];
        row[2 * c + 1] = m[c];
      }
      std::fill(row + 2 * size, row + stride, 0.0F);
    }
  });
  return rows;
}

struct Shape {
  Layout layout;
  std::int64_t size;       // of the plan's largest embedding
  std::int64_t num_users;  // the first rows, which are users'
};

// What the kernels score: by row its products, then its side of the hidden layer.
struct Sides : Shape {
  std::int64_t products;  // their columns: row_stride(size)
  at::Tensor inputs;      // m, float [rows, size]
  at::Tensor vectors;     // float [rows, row_stride(products + hidden)]
};

// The sides of the rows of `table` at `index`, or of all rows if that is undefined.
Sides make_sides(const Shape& shape, const at::Tensor& table, const at::Tensor& index,
                 const at::Tensor& weights) {
  const auto& [layout, size, num_users] = shape;
  const std::int64_t num_rows = index.defined() ? index.size(0) : table.size(0);
  Sides sides{shape, row_stride(static_cast<std::uint32_t>(size)), {}, {}};
  sides.inputs = at::empty({num_rows, size}, table.options());
  const std::int64_t used = sides.products + layout.stride;
  const std::int64_t columns = row_stride(static_cast<std::uint32_t>(used));
  sides.vectors = at::empty({num_rows, columns}, table.options());
  if (used < columns) sides.vectors.slice(1, used).zero_();
  deinterleave(table, index, sides.vectors.slice(1, 0, size), sides.inputs);
  if (size < sides.products) sides.vectors.slice(1, size, sides.products).zero_();
  const at::Tensor hidden = sides.vectors.slice(1, sides.products, used);
  multiply_rows(hidden.slice(0, 0, num_users), sides.inputs.slice(0, 0, num_users),
                layout.of_users(weights).slice(0, 0, size), layout.bias(weights));
  multiply_rows(hidden.slice(0, num_users), sides.inputs.slice(0, num_users),
                layout.of_items(weights).slice(0, 0, size));
  return sides;
}

// The gradient for the rows that `sides` was made of, and that of the weights but the heads.
at::Tensor make_sides_back(const Sides& sides, const at::Tensor& gradient,
                           const at::Tensor& weights, const at::Tensor& weights_gradient,
                           std::int64_t stride) {
  const Layout& layout = sides.layout;
  const at::Tensor hidden = gradient.slice(1, sides.products, sides.products + layout.stride);
  const at::Tensor inputs = at::empty({gradient.size(0), sides.size}, gradient.options());
  const auto back = [&](std::int64_t first, std::int64_t last, const at::Tensor& weight,
                        const at::Tensor& weight_gradient) {
    const at::Tensor side = hidden.slice(0, first, last);
    multiply_rows(inputs.slice(0, first, last), side, weight.slice(0, 0, sides.size).t());
    multiply_transposed(weight_gradient.slice(0, 0, sides.size), sides.inputs.slice(0, first, last),
                        side);
  };
  back(0, sides.num_users, layout.of_users(weights), layout.of_users(weights_gradient));
  back(sides.num_users, gradient.size(0), layout.of_items(weights),
       layout.of_items(weights_gradient));
  sum_rows(layout.bias(weights_gradient), hidden.slice(0, 0, sides.num_users));
  return interleave(gradient.slice(1, 0, sides.size), inputs, stride);
}

// The hidden units of positive weight, then those of negative weight, then the others; the order
// within each group is kept.
at::Tensor units_in_order(const at::Tensor& head) {
  const at::Tensor group = head.gt(0) * 2 + head.ne(0);
  const std::int64_t count = head.size(0);
  return (group * count - at::arange(count, head.options())).argsort(0, /*descending=*/true);
}

// In a small batch it is less work to compute the sides of its slots than those of all rows.
bool is_by_slot(const Batch& batch) { return batch.num_slots() < batch.num_rows(); }

// Whether the sums over slots of such rows are too large for the caches.
bool is_large(const Batch& batch, const at::Tensor& by_slot) {
  const std::int64_t values = batch.num_rows() * by_slot.size(1);
  return values * static_cast<std::int64_t>(sizeof(float)) > kLargeTable;
}

class NcfLoss : public torch::autograd::Function<NcfLoss> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& values,
                            const at::Tensor& weights, const Shape& shape, const Batch* batch,
                            const LossOptions& options) {
    const bool by_slot = is_by_slot(*batch);
    const Sides sides = by_slot ? make_sides({shape.layout, shape.size, batch->size()}, values,
                                             batch->rows, weights)
                                : make_sides(shape, values, at::Tensor(), weights);
    const at::Tensor head = at::cat(
        {shape.layout.products(weights).slice(0, 0, sides.products), shape.layout.hidden(weights)});
    const at::Tensor contributions =
        at::empty({batch->num_slots(), sides.vectors.size(1)}, values.options());
    const at::Tensor head_gradient = at::empty_like(head);
    const at::Tensor terms = at::empty({std::int64_t{batch->size()}}, values.options());
    at::Tensor loss = at::empty({1}, values.options());
    NeuMfArgs args;
    args.vectors = sides.vectors.data_ptr<float>();
    args.stride = static_cast<std::uint32_t>(sides.vectors.size(1));
    args.num_products = static_cast<std::uint32_t>(sides.products);
    args.num_hidden = static_cast<std::uint32_t>(shape.layout.stride);
    args.head = head.data_ptr<float>();
    args.rows = u32_data(by_slot ? batch->numbers : batch->rows);
    args.seen_mask = u32_data(batch->seen_mask);
    args.size = batch->size();
    args.pool = batch->pool();
    args.kind = options.kind;
    args.temperature = static_cast<float>(options.temperature);
    args.loss = terms.data_ptr<float>();
    args.contributions = contributions.data_ptr<float>();
    args.head_gradient = head_gradient.data_ptr<float>();
    Executor& executor = executor_for(values.device());
    executor.run_terms(args);
    executor.mean(args.loss, args.size, loss.data_ptr<float>());
    context->save_for_backward({weights, sides.inputs, contributions, head_gradient});
    context->saved_data["batch"] = reinterpret_cast<std::int64_t>(batch);
    context->saved_data["hidden"] = shape.layout.stride;
    context->saved_data["size"] = shape.size;
    context->saved_data["num_users"] = sides.num_users;
    context->saved_data["stride"] = values.size(1);
    return loss;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto* batch = reinterpret_cast<const Batch*>(context->saved_data["batch"].toInt());
    const Layout layout{context->saved_data["hidden"].toInt()};
    const std::int64_t size = context->saved_data["size"].toInt();
    const Sides sides{{layout, size, context->saved_data["num_users"].toInt()},
                      row_stride(static_cast<std::uint32_t>(size)),
                      saved[1],
                      {}};
    const std::int64_t stride = context->saved_data["stride"].toInt();
    const at::Tensor& weights = saved[0];
    const at::Tensor factor = gradients[0].contiguous();
    const at::Tensor weights_gradient = at::zeros_like(weights);
    const bool by_slot = is_by_slot(*batch);
    const at::Tensor by_vector =
        by_slot ? saved[2] : batch->sum_slots(saved[2], factor, is_large(*batch, saved[2]));
    const at::Tensor rows = make_sides_back(sides, by_vector, weights, weights_gradient, stride);
    if (by_slot) weights_gradient.mul_(factor);
    const at::Tensor head = saved[3] * factor;
    layout.products(weights_gradient)
        .slice(0, 0, sides.products)
        .copy_(head.slice(0, 0, sides.products));
    layout.hidden(weights_gradient).copy_(head.slice(0, sides.products));
    const at::Tensor values_gradient =
        by_slot ? batch->sum_slots(rows, factor, is_large(*batch, rows)) : rows;
    return {values_gradient, weights_gradient, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

// NCF (He et al., WWW'17): its NeuMF, with BPR instead of the pointwise loss (BET paper,
// Section 3.1).
class Ncf final : public Backbone {
 public:
  Ncf(const ModelOptions& options, const Graph& graph)
      : options_(options),
        dim_(options.dim),
        layout_{row_stride(options.dim)},
        num_users_(graph.num_users) {}

  ModelParameters initial(std::span<const SizePlan> plans, std::uint64_t seed) const override {
    const TableShape& shape = plans[0].shape();
    BET_CHECK(shape.tables == 2, "ncf has two embeddings a row, the plan has ", shape.tables);
    ModelParameters table = make_table(
        plans, seed,
        {xavier_deviation(shape.num_users, dim_), xavier_deviation(shape.num_items, dim_)});
    add_weights(table, layout_.size());
    const std::int64_t dim = dim_;
    for (std::int64_t model = 0; model < table.weights.size(0); ++model) {
      const at::Tensor weights = table.weights[model];
      const auto draw = [&](const at::Tensor& matrix, const XavierFan& fan, const char* purpose) {
        draw_xavier(matrix, fan, seed, purpose);
      };
      const auto square = [&](const at::Tensor& matrix) {
        return matrix.slice(0, 0, dim).slice(1, 0, dim);
      };
      const auto one_row = [&](const at::Tensor& vector) {
        return vector.slice(0, 0, dim).unsqueeze(0);
      };
      draw(square(layout_.of_users(weights)), {2 * dim, dim}, "ncf hidden users");
      draw(square(layout_.of_items(weights)), {2 * dim, dim}, "ncf hidden items");
      draw(one_row(layout_.products(weights)), {2 * dim, 1}, "ncf head products");
      draw(one_row(layout_.hidden(weights)), {2 * dim, 1}, "ncf head hidden");
    }
    return table;
  }

  at::Tensor loss_by_values(const ModelParameters& parameters,
                            const TrainingPass& pass) const override {
    pass.executor.join();
    const std::vector<LossOptions> options = options_.losses_of(parameters.models.size());
    std::vector<at::Tensor> losses;
    for (std::size_t model = 0; model < parameters.models.size(); ++model) {
      const Shape shape = {layout_, size_of(parameters.models[model]), num_users_};
      losses.push_back(NcfLoss::apply(parameters.values_of(model),
                                      parameters.weights[static_cast<std::int64_t>(model)], shape,
                                      &pass.batch, options[model]));
    }
    return losses.size() == 1 ? losses[0] : at::cat(losses);
  }

  // The heads are folded into the vectors: that of the products into the items', the absolute
  // values of the hidden one into both sides, its positive units first.
  Ranking ranking_by_values(const ModelParameters& parameters) const override {
    std::vector<Ranking> models;
    for (std::size_t model = 0; model < parameters.models.size(); ++model) {
      const at::Tensor weights = parameters.weights[static_cast<std::int64_t>(model)];
      const Sides sides = make_sides({layout_, size_of(parameters.models[model]), num_users_},
                                     parameters.values_of(model), at::Tensor(), weights);
      sides.vectors.slice(0, num_users_)
          .slice(1, 0, sides.products)
          .mul_(layout_.products(weights).slice(0, 0, sides.products));
      const at::Tensor head = layout_.hidden(weights);
      const at::Tensor order = units_in_order(head);
      const at::Tensor hidden =
          sides.vectors.slice(1, sides.products, sides.products + layout_.stride);
      hidden.copy_((hidden * head.abs()).index_select(1, order));
      Scoring scoring(0, static_cast<std::uint32_t>(sides.size));
      scoring.first_hidden = static_cast<std::uint32_t>(sides.products);
      scoring.num_positive = static_cast<std::uint32_t>(head.gt(0).sum().item<std::int64_t>());
      scoring.num_negative = static_cast<std::uint32_t>(head.lt(0).sum().item<std::int64_t>());
      models.push_back({sides.vectors, {scoring}});
    }
    return side_by_side(models);
  }

  std::vector<NamedWeights> named_weights(const ModelParameters& parameters) const override {
    const at::Tensor weights = parameters.weights[0];
    const std::int64_t size = size_of(parameters.models[0]);
    const auto matrix = [&](const at::Tensor& whole) {
      return whole.slice(0, 0, size).slice(1, 0, dim_);
    };
    const auto row = [](const at::Tensor& whole, std::int64_t columns) {
      return whole.slice(0, 0, columns).unsqueeze(0);
    };
    return {{"hidden.user", matrix(layout_.of_users(weights))},
            {"hidden.item", matrix(layout_.of_items(weights))},
            {"hidden.bias", row(layout_.bias(weights), dim_)},
            {"head.products", row(layout_.products(weights), size)},
            {"head.hidden", row(layout_.hidden(weights), dim_)}};
  }

 private:
  static std::int64_t size_of(const ModelColumns& columns) { return columns.width / 2; }

  ModelOptions options_;
  std::uint32_t dim_;
  Layout layout_;
  std::int64_t num_users_;
};

std::unique_ptr<Backbone> make(const ModelOptions& options, const Graph& graph) {
  return std::make_unique<Ncf>(options, graph);
}

}  // namespace

extern const BackboneKind kNcf;
const BackboneKind kNcf = {backbone_traits(BackboneId::kNcf),
                           {.l2 = 1e-2,
                            .multiplies = true,
                            .fast = {.user_passes = 10,
                                     .learning_rate = 0.8,
                                     .weights_rate = 0.1,
                                     .widest_at_rate = 32,
                                     .far_rate = 2,
                                     .beta1 = 0.9F,
                                     .beta2 = 0.999F,
                                     .temperature = 0.4},
                            .ciess = {.max_steps = 1'500, .decay_steps = 50, .lowest_rate = 1e-4},
                            .workspace = 12,
                            .make = make}};

}  // namespace bet
