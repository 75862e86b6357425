#include "search/mlp.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace bet {
namespace {

constexpr double kSlope = 0.01;  // of LeakyReLU below zero

std::size_t params_of(const Mlp::Layer& layer) { return (layer.in + 1) * layer.out; }

// y += a x
void add_multiple(double a, const double* x, double* y, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) y[i] += a * x[i];
}

// Adds the gradient by weights and biases, given the layer's input [rows, in] and the gradient by
// its output before the activation [rows, out].
void add_weight_gradient(const Mlp::Layer& layer, std::size_t rows, const double* input,
                         const double* output_gradient, double* gradient) {
  double* biases_gradient = gradient + layer.in * layer.out;
  for (std::size_t row = 0; row < rows; ++row) {
    const double* x = input + row * layer.in;
    const double* g = output_gradient + row * layer.out;
    add_multiple(1.0, g, biases_gradient, layer.out);
    for (std::size_t i = 0; i < layer.in; ++i) {
      add_multiple(x[i], g, gradient + i * layer.out, layer.out);
    }
  }
}

// The gradient by the layer's input [rows, in], given that by its output before the activation.
std::vector<double> input_gradient(const Mlp::Layer& layer, std::size_t rows, const double* weights,
                                   const double* output_gradient) {
  std::vector<double> transposed(layer.in * layer.out);
  for (std::size_t i = 0; i < layer.in; ++i) {
    for (std::size_t o = 0; o < layer.out; ++o) {
      transposed[o * layer.in + i] = weights[i * layer.out + o];
    }
  }
  std::vector<double> gradient(rows * layer.in);
  for (std::size_t row = 0; row < rows; ++row) {
    const double* g = output_gradient + row * layer.out;
    for (std::size_t o = 0; o < layer.out; ++o) {
      add_multiple(g[o], transposed.data() + o * layer.in, gradient.data() + row * layer.in,
                   layer.in);
    }
  }
  return gradient;
}

}  // namespace

Mlp::Mlp(std::vector<Layer> layers) : layers_(std::move(layers)) {
  for (const Layer& layer : layers_) num_params_ += params_of(layer);
}

void Mlp::draw(RandomStream& random, std::vector<double>& params) const {
  for (const Layer& layer : layers_) {
    const double limit = 1.0 / std::sqrt(static_cast<double>(layer.in));
    for (std::size_t i = 0; i < params_of(layer); ++i) {
      params.push_back((2 * random.uniform() - 1) * limit);
    }
  }
}

Mlp::Pass Mlp::forward(std::span<const double> params, std::vector<double> input) const {
  Pass pass;
  pass.rows = input.size() / layers_.front().in;
  pass.values.push_back(std::move(input));
  const double* weights = params.data();
  for (const Layer& layer : layers_) {
    const double* biases = weights + layer.in * layer.out;
    const double* x = pass.values.back().data();
    std::vector<double> output(pass.rows * layer.out);
    for (std::size_t row = 0; row < pass.rows; ++row, x += layer.in) {
      double* y = output.data() + row * layer.out;
      std::copy(biases, biases + layer.out, y);
      for (std::size_t i = 0; i < layer.in; ++i) {
        add_multiple(x[i], weights + i * layer.out, y, layer.out);
      }
      for (std::size_t o = 0; layer.leaky && o < layer.out; ++o) y[o] *= y[o] > 0 ? 1.0 : kSlope;
    }
    pass.values.push_back(std::move(output));
    weights += params_of(layer);
  }
  return pass;
}

std::vector<double> Mlp::backward(std::span<const double> params, const Pass& pass,
                                  std::vector<double> output_gradient, std::span<double> gradient,
                                  InputGradient wanted) const {
  BET_CHECK(params.size() == num_params_ && gradient.size() == num_params_, "a network of ",
            num_params_, " weights was given ", params.size(), " weights and a gradient of ",
            gradient.size());
  std::size_t end = num_params_;
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const Layer& layer = layers_[l];
    const std::size_t first = end - params_of(layer);
    const std::vector<double>& output = pass.values[l + 1];
    for (std::size_t i = 0; layer.leaky && i < output.size(); ++i) {
      output_gradient[i] *= output[i] > 0 ? 1.0 : kSlope;
    }
    add_weight_gradient(layer, pass.rows, pass.values[l].data(), output_gradient.data(),
                        gradient.data() + first);
    end = first;
    if (l == 0 && wanted == InputGradient::kNo) return {};
    output_gradient =
        input_gradient(layer, pass.rows, params.data() + first, output_gradient.data());
  }
  return output_gradient;
}

}  // namespace bet
