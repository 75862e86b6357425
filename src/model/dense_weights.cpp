#include "model/dense_weights.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace bet {
namespace {

constexpr std::int64_t kTableStride = 8;

}  // namespace

void add_weights(ModelParameters& table, std::int64_t num_weights) {
  BET_CHECK(num_weights % kTableStride == 0, num_weights, " weights are not padded");
  table.weights =
      at::zeros({static_cast<std::int64_t>(table.models.size()), num_weights}, at::kFloat);
}

at::Tensor weight_matrix(const at::Tensor& weights, std::int64_t first, std::int64_t rows,
                         std::int64_t columns) {
  return weights.narrow(0, first, rows * columns).view({rows, columns});
}

void draw_xavier(at::Tensor matrix, const XavierFan& fan, std::uint64_t seed,
                 std::string_view purpose) {
  const double bound = std::sqrt(6.0 / static_cast<double>(fan.inputs + fan.outputs));
  RandomStream random(seed, purpose);
  for (std::int64_t row = 0; row < matrix.size(0); ++row) {
    float* const values = matrix[row].data_ptr<float>();
    for (std::int64_t column = 0; column < matrix.size(1); ++column) {
      values[column] = static_cast<float>(bound * (2.0 * random.uniform() - 1.0));
    }
  }
}

double xavier_deviation(std::uint64_t rows, std::uint64_t columns) {
  return std::sqrt(2.0 / static_cast<double>(rows + columns));
}

void fill_weights(at::Tensor matrix, std::span<const float> values) {
  BET_CHECK(matrix.numel() == static_cast<std::int64_t>(values.size()), values.size(),
            " values for ", matrix.numel(), " weights");
  matrix.copy_(at::from_blob(const_cast<float*>(values.data()), matrix.sizes(), at::kFloat));
}

ModelParameters weights_as_table(const at::Tensor& weights) {
  ModelParameters table;
  table.values = weights.view({-1, kTableStride});
  table.sizes =
      at::full({1, table.values.size(0)}, kTableStride, weights.options().dtype(at::kShort));
  table.models = {{0, kTableStride}};
  return table;
}

}  // namespace bet
