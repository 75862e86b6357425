#include "model/model_parameters.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/random.h"
#include "base/row_quantiser.h"
#include "kernels/kernels.h"

namespace bet {
namespace {

// Columns 2i and 2i+1 of a row: Box and Muller's pair.
struct NormalPair {
  double radius;
  double angle;

  NormalPair(std::uint32_t pair, std::uint32_t row, std::array<std::uint32_t, 2> key,
             double deviation) {
    const auto words = philox4x32({pair, row, 0, 0}, key);
    radius =
        deviation * std::sqrt(-2.0 * std::log((static_cast<double>(words[0]) + 0.5) * 0x1p-32));
    angle = 2.0 * std::numbers::pi * (static_cast<double>(words[1]) + 0.5) * 0x1p-32;
  }
  float first() const { return static_cast<float>(radius * std::cos(angle)); }
  float second() const { return static_cast<float>(radius * std::sin(angle)); }
};

void draw_row(float* row, std::uint32_t size, std::uint32_t index, std::array<std::uint32_t, 2> key,
              double deviation) {
  for (std::uint32_t column = 0; column < size; column += 2) {
    const NormalPair pair(column / 2, index, key, deviation);
    row[column] = pair.first();
    if (column + 1 < size) row[column + 1] = pair.second();
  }
}

// The slice's columns of a row, of which it has `size`.
void draw_part(float* row, std::uint32_t size, std::uint32_t index,
               std::array<std::uint32_t, 2> key, double deviation, const ColumnSlice& slice) {
  for (std::uint32_t own = 0; own < size; ++own) {
    const std::uint32_t column = slice.column(own);
    const NormalPair pair(column / 2, index, key, deviation);
    row[own] = column % 2 == 0 ? pair.first() : pair.second();
  }
}

}  // namespace

at::Tensor room_for(const at::Tensor& values, std::span<const ModelColumns> models) {
  std::int64_t covered = 0;
  for (const ModelColumns& model : models) covered += row_stride(model.width);
  return covered == values.size(1) ? at::empty_like(values) : at::zeros_like(values);
}

at::Tensor ModelParameters::values_of(std::size_t model) const {
  if (models.size() == 1) return values;
  const ModelColumns& columns = models[model];
  return values.slice(1, columns.first, columns.first + row_stride(columns.width)).contiguous();
}

ModelParameters ModelParameters::only(std::size_t model) const {
  const ModelColumns& columns = models[model];
  ModelParameters table;
  const auto own_columns = [&](const at::Tensor& all) {
    return all.slice(1, columns.first, columns.first + row_stride(columns.width))
        .clone(at::MemoryFormat::Contiguous);
  };
  table.values = own_columns(values);
  table.sizes =
      sizes.slice(0, static_cast<std::int64_t>(model), static_cast<std::int64_t>(model) + 1)
          .clone();
  table.models = {{0, columns.width}};
  if (!precisions.empty()) table.precisions = {precisions[model]};
  table.num_users = num_users;
  if (stores_vectors(model)) {
    const auto index = static_cast<std::int64_t>(model);
    table.forms = {StoredForm::kVectors};
    table.vector_sizes = vector_sizes.slice(0, index, index + 1).clone();
  }
  if (weights.defined()) {
    const auto index = static_cast<std::int64_t>(model);
    table.weights = weights.slice(0, index, index + 1).clone();
  }
  if (kept.defined()) table.kept = own_columns(kept);
  if (stores_vectors(model) && vector_kept.defined()) table.vector_kept = own_columns(vector_kept);
  return table;
}

ModelParameters ModelParameters::to(const at::Device& device) const {
  const auto moved = [&](const at::Tensor& one) { return one.defined() ? one.to(device) : one; };
  return {values.to(device), sizes.to(device), models, moved(weights),      moved(kept),
          precisions,        num_users,        forms,  moved(vector_sizes), moved(vector_kept)};
}

namespace {

// Writes the plan's mask into its model's columns of `kept`, for both values of a column where it
// has two, and the end of each row's last kept column into `ends`.
void apply_mask(const SizePlan& plan, const ModelColumns& columns, at::Tensor& kept,
                std::int16_t* ends) {
  const TableShape& shape = plan.shape();
  for (std::uint64_t row = 0; row < shape.num_rows(); ++row) {
    float* const out =
        kept.data_ptr<float>() + row * static_cast<std::uint64_t>(kept.size(1)) + columns.first;
    const std::span<const std::uint8_t> mask =
        plan.mask().subspan(row * shape.max_dim, plan.width());
    std::uint32_t end = 0;
    for (std::uint32_t column = 0; column < mask.size(); ++column) {
      for (std::uint32_t t = 0; t < shape.tables; ++t)
        out[column * shape.tables + t] = mask[column];
      if (mask[column] != 0) end = column + 1;
    }
    ends[row] = static_cast<std::int16_t>(end * shape.tables);
  }
}

// What the plans keep of their vectors, where there are plans of vectors: every row of their tables
// then has all columns.
void set_vectors(std::span<const SizePlan> plans, ModelParameters& table) {
  std::vector<StoredForm> forms;
  for (const SizePlan& plan : plans) forms.push_back(plan.form());
  if (std::ranges::find(forms, StoredForm::kVectors) == forms.end()) return;
  const at::Tensor kept = table.sizes.clone();
  for (std::size_t model = 0; model < plans.size(); ++model) {
    if (forms[model] == StoredForm::kTable) continue;
    table.sizes[static_cast<std::int64_t>(model)].fill_(
        static_cast<std::int64_t>(table.models[model].width));
  }
  store_vectors(table, std::move(forms), kept);
}

}  // namespace

ModelParameters zero_table(std::span<const SizePlan> plans) {
  BET_CHECK(!plans.empty(), "a table needs at least one plan");
  ModelParameters table;
  std::uint32_t columns = 0;
  for (const SizePlan& plan : plans) {
    BET_CHECK(plan.shape().num_rows() == plans[0].shape().num_rows(), "plans of ",
              plan.shape().num_rows(), " and ", plans[0].shape().num_rows(), " rows side by side");
    const std::uint32_t width = plan.width() * plan.shape().tables;
    table.models.push_back({columns, width});
    // Half precision is a matter of the file: the rows are trained as they are.
    const auto trained = [](Precision side) {
      return is_integer(side) ? side : Precision::kFloat32;
    };
    table.precisions.emplace_back(trained(plan.precision().users), trained(plan.precision().items));
    columns += row_stride(width);
  }
  table.num_users = static_cast<std::int64_t>(plans[0].shape().num_users);
  const auto num_rows = static_cast<std::int64_t>(plans[0].shape().num_rows());
  const std::int64_t stride = row_stride(columns);
  table.values = at::zeros({num_rows, stride}, at::kFloat);
  table.sizes = at::empty({static_cast<std::int64_t>(plans.size()), num_rows}, at::kShort);
  auto* next_size = table.sizes.data_ptr<std::int16_t>();
  for (const SizePlan& plan : plans) {
    for (const std::span<const std::uint16_t> side : {plan.user_sizes(), plan.item_sizes()}) {
      for (const std::uint32_t size : side) {
        *next_size++ = static_cast<std::int16_t>(size * plan.shape().tables);
      }
    }
  }
  set_vectors(plans, table);
  const bool has_mask = std::any_of(plans.begin(), plans.end(),
                                    [](const SizePlan& plan) { return !plan.mask().empty(); });
  if (!has_mask) return table;
  table.kept = at::ones({num_rows, stride}, at::kFloat);
  for (std::size_t model = 0; model < plans.size(); ++model) {
    if (plans[model].mask().empty()) continue;
    apply_mask(plans[model], table.models[model], table.kept,
               table.sizes.data_ptr<std::int16_t>() + static_cast<std::int64_t>(model) * num_rows);
  }
  return table;
}

void store_vectors(ModelParameters& parameters, std::vector<StoredForm> forms,
                   const at::Tensor& sizes) {
  parameters.forms = std::move(forms);
  parameters.vector_sizes = sizes;
  at::Tensor kept = at::ones(parameters.values.sizes(), at::kFloat);
  for (std::size_t model = 0; model < parameters.models.size(); ++model) {
    if (!parameters.stores_vectors(model)) continue;
    const ModelColumns& columns = parameters.models[model];
    const at::Tensor of_model = sizes[static_cast<std::int64_t>(model)];
    kept.slice(1, columns.first, columns.first + columns.width)
        .copy_(at::arange(std::int64_t{columns.width}, of_model.options())
                   .unsqueeze(0)
                   .lt(of_model.unsqueeze(1)));
  }
  if (kept.min().item<float>() == 0) parameters.vector_kept = kept;
}

ModelParameters make_table(std::span<const SizePlan> plans, std::uint64_t seed,
                           const Deviations& deviations, const ColumnSlice& slice) {
  ModelParameters table = zero_table(plans);
  const std::int64_t num_rows = table.num_rows();
  const std::int64_t stride = table.stride();
  const auto num_users = static_cast<std::int64_t>(plans[0].shape().num_users);
  const auto* sizes = table.sizes.data_ptr<std::int16_t>();
  auto* values = table.values.data_ptr<float>();
  const auto key = stream_key(seed, "init");
  constexpr std::int64_t kGrain = 512;
  at::parallel_for(0, num_rows, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::size_t model = 0; model < plans.size(); ++model) {
      for (std::int64_t row = begin; row < end; ++row) {
        const auto size =
            static_cast<std::uint32_t>(sizes[static_cast<std::int64_t>(model) * num_rows + row]);
        const auto index = static_cast<std::uint32_t>(row);
        const double deviation = row < num_users ? deviations.users : deviations.items;
        float* const out = values + row * stride + table.models[model].first;
        if (slice.count == 1) {
          draw_row(out, size, index, key, deviation);
        } else {
          draw_part(out, size, index, key, deviation, slice);
        }
      }
    }
  });
  if (table.kept.defined()) table.values.mul_(table.kept);
  return table;
}

ModelParameters masked_copy(const ModelParameters& full, std::span<const SizePlan> plans) {
  ModelParameters table = zero_table(plans).to(full.values.device());
  for (std::size_t model = 0; model < plans.size(); ++model) {
    const ModelColumns& columns = table.models[model];
    BET_CHECK(columns.width <= full.models.at(0).width && table.num_rows() == full.num_rows(),
              "a plan of size ", columns.width, " in a table of width ", full.models.at(0).width);
    const at::Tensor mask =
        at::arange(std::int64_t{columns.width}, full.values.options().dtype(at::kShort))
            .unsqueeze(0)
            .lt(table.sizes[static_cast<std::int64_t>(model)].unsqueeze(1));
    table.values.slice(1, columns.first, columns.first + columns.width)
        .copy_(full.values.slice(1, 0, columns.width).mul(mask));
  }
  if (table.kept.defined()) table.values.mul_(table.kept);
  if (full.weights.defined()) {
    table.weights = full.weights.repeat({static_cast<std::int64_t>(plans.size()), 1});
  }
  return table;
}

}  // namespace bet
