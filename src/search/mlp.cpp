#include "search/mlp.h"

#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>

#include <cmath>

namespace bet {
namespace {

constexpr double kSlope = 0.01;

at::Tensor layer(const at::Tensor& params, std::int64_t first, std::int64_t in, std::int64_t out,
                 const at::Tensor& x) {
  const at::Tensor weight = params.slice(0, first, first + in * out).view({out, in});
  const at::Tensor bias = params.slice(0, first + in * out, first + in * out + out);
  return at::linear(x, weight, bias);
}

}  // namespace

void draw_mlp(const MlpShape& shape, RandomStream& random, std::vector<double>& params) {
  const auto draw = [&](std::int64_t fan_in, std::int64_t count) {
    const double limit = 1.0 / std::sqrt(static_cast<double>(fan_in));
    for (std::int64_t i = 0; i < count; ++i) params.push_back((2 * random.uniform() - 1) * limit);
  };
  draw(shape.in, shape.hidden * (shape.in + 1));
  draw(shape.hidden, shape.out * (shape.hidden + 1));
}

at::Tensor mlp_hidden(const MlpShape& shape, const at::Tensor& params, const at::Tensor& x) {
  return at::leaky_relu(layer(params, 0, shape.in, shape.hidden, x), kSlope);
}

at::Tensor mlp_output(const MlpShape& shape, const at::Tensor& params, const at::Tensor& hidden) {
  return layer(params, shape.hidden * (shape.in + 1), shape.hidden, shape.out, hidden);
}

at::Tensor mlp(const MlpShape& shape, const at::Tensor& params, const at::Tensor& x) {
  return at::leaky_relu(mlp_output(shape, params, mlp_hidden(shape, params, x)), kSlope);
}

}  // namespace bet
