#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "model/model_parameters.h"

namespace bet {

// Dense weights of a backbone lie in ModelParameters::weights, a row of floats for each model.
// Matrices are padded to row_stride() columns and rows; the padding is zero and stays so.

// Adds weights to a table: `num_weights` zeros for each model.
void add_weights(ModelParameters& table, std::int64_t num_weights);

// Floats [first, first + rows * columns) of a model's weights as a matrix, a view.
at::Tensor weight_matrix(const at::Tensor& weights, std::int64_t first, std::int64_t rows,
                         std::int64_t columns);

// Draws a matrix from the uniform distribution of Glorot and Bengio (Xavier); `purpose` names its
// random stream. The same for every model.
struct XavierFan {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
};
void draw_xavier(at::Tensor matrix, const XavierFan& fan, std::uint64_t seed,
                 std::string_view purpose);

// Xavier's deviation for an embedding table of so many rows and columns.
double xavier_deviation(std::uint64_t rows, std::uint64_t columns);

// Copies floats into a matrix in row-major order. Throws if their number differs from its size.
void fill_weights(at::Tensor matrix, std::span<const float> values);

// All weights as a table of short rows, which RowAdam moves; shares memory with `weights`.
ModelParameters weights_as_table(const at::Tensor& weights);

}  // namespace bet
