#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/precision.h"
#include "plan/column_slice.h"
#include "plan/size_plan.h"

namespace bet {

// The columns of one model in a table.
struct ModelColumns {
  std::uint32_t first = 0;
  std::uint32_t width = 0;  // of the plan's largest size; row_stride(width) columns are its own
};

// The embedding tables of one or more plans side by side: users first, then items; under its plan
// row n keeps the first size(n) of the plan's columns, the others are zero and never move. No wider
// than the plans' largest sizes, so memory and work shrink with the budget. Where a row has two
// embeddings (TableShape::tables) they alternate, a value of the first, a value of the second, and
// sizes and widths count both: a row still keeps its first columns. Under a plan with a mask a
// row's size is where its last kept column ends, and `kept` says which of them it keeps. The dense
// weights of each model, where its backbone has any, belong to the parameters too.
//
// `values` are what is trained, in fp32 always. A model of an integer precision is used, in
// training and after it, by the rows as they are stored or, under a plan of vectors, by the vectors
// as they are stored (model/quantised_rows.h).
struct ModelParameters {
  at::Tensor values;  // float [rows, stride]
  at::Tensor sizes;   // int16 [models, rows]
  std::vector<ModelColumns> models;
  at::Tensor weights;  // float [models, floats of the backbone's layout], or undefined
  at::Tensor kept;     // float [rows, stride], 1 where a value is kept; undefined without masks
  std::vector<TablePrecision> precisions = {};  // by model; empty: all fp32
  std::int64_t num_users = 0;                   // the first rows
  std::vector<StoredForm> forms = {};           // by model; empty: all store their rows
  // Where a model stores vectors, else undefined: int16 [models, rows], the first columns that are
  // kept of each vector, and float [rows, stride], 1 where a column is kept; the latter undefined
  // where all of them are.
  at::Tensor vector_sizes = {};
  at::Tensor vector_kept = {};

  bool stores_vectors(std::size_t model) const {
    return !forms.empty() && forms[model] == StoredForm::kVectors;
  }

  std::int64_t num_rows() const { return values.size(0); }
  std::int64_t stride() const { return values.size(1); }

  // What the only model stores.
  StoredForm form() const { return stores_vectors(0) ? StoredForm::kVectors : StoredForm::kTable; }

  // One model's values, float [rows, row_stride of its width]; `values` itself if it is the only
  // model.
  at::Tensor values_of(std::size_t model) const;

  // A copy of one model's parameters.
  ModelParameters only(std::size_t model) const;

  ModelParameters to(const at::Device& device) const;
};

// Lets models of these forms, on the CPU, store vectors, of which `sizes` (int16 [models, rows])
// says what is kept.
void store_vectors(ModelParameters& parameters, std::vector<StoredForm> forms,
                   const at::Tensor& sizes);

// Columns and sizes of the plans side by side, all values zero, without weights. On the CPU.
ModelParameters zero_table(std::span<const SizePlan> plans);

// The first columns of a full-size table under each plan's mask, and its weights, on its device:
// where a probe starts.
ModelParameters masked_copy(const ModelParameters& full, std::span<const SizePlan> plans);

// Uninitialised, like `values`, for a kernel that writes all columns of each model; what is between
// them is zero.
at::Tensor room_for(const at::Tensor& values, std::span<const ModelColumns> models);

// Standard deviations of the initial values of each side.
struct Deviations {
  // NOLINTNEXTLINE(google-explicit-constructor): one number is for both sides.
  Deviations(double both) : users(both), items(both) {}
  Deviations(double of_users, double of_items) : users(of_users), items(of_items) {}

  double users;
  double items;
};

// Values drawn from N(0, deviation^2), without weights. A value depends only on the seed and on its
// row and column, so a narrow plan starts as the prefix of a wide one. On the CPU. With a `slice`
// the plans are those of the slice, and their values are those of its columns in the whole table.
ModelParameters make_table(std::span<const SizePlan> plans, std::uint64_t seed,
                           const Deviations& deviations = 0.01, const ColumnSlice& slice = {});
inline ModelParameters make_table(const SizePlan& plan, std::uint64_t seed,
                                  const Deviations& deviations = 0.01,
                                  const ColumnSlice& slice = {}) {
  return make_table(std::span(&plan, 1), seed, deviations, slice);
}

}  // namespace bet
