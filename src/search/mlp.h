#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/random.h"

namespace bet {

// A small multilayer perceptron over the rows of a matrix, in double precision, with its gradient.
// Written by hand and run on the calling thread: its matrices are so small that a framework's
// overhead would dominate, and the search must not keep a GPU waiting.
class Mlp {
 public:
  struct Layer {
    std::size_t in = 0;
    std::size_t out = 0;
    bool leaky = true;  // followed by LeakyReLU of slope 0.01; else linear
  };
  explicit Mlp(std::vector<Layer> layers);

  std::size_t num_params() const { return num_params_; }

  // Appends weights and biases drawn from U(-1/sqrt(in), 1/sqrt(in)): for each layer the weights
  // [in, out], then the biases [out].
  void draw(RandomStream& random, std::vector<double>& params) const;

  // What backward() needs: the input, then the output of each layer, each [rows, width].
  struct Pass {
    std::size_t rows = 0;
    std::vector<std::vector<double>> values;

    const std::vector<double>& output() const { return values.back(); }
  };
  Pass forward(std::span<const double> params, std::vector<double> input) const;

  // Adds the gradient by the weights to `gradient`, given the gradient by the output [rows, out].
  // Returns the gradient by the input; nothing, at no cost, if it is not wanted.
  enum class InputGradient { kNo, kYes };
  std::vector<double> backward(std::span<const double> params, const Pass& pass,
                               std::vector<double> output_gradient, std::span<double> gradient,
                               InputGradient wanted) const;

 private:
  std::vector<Layer> layers_;
  std::size_t num_params_ = 0;
};

}  // namespace bet
