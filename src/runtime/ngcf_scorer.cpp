#include "runtime/ngcf.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "runtime/dense_kernels.h"
#include "runtime/parallel.h"
#include "runtime/weight_section.h"

namespace bet {
namespace {

constexpr std::uint32_t kLayers = 3;
constexpr float kNegativeSlope = 0.2F;
constexpr float kSmallestLength = 1e-12F;
// Rows at once: a multiple of the product's own tiles, little enough to stay in a core's cache.
constexpr std::uint32_t kBlock = 48;

// The neighbours of every row, users first: both directions of the interactions.
struct Neighbours {
  std::vector<std::uint64_t> begins;  // [rows + 1]
  std::vector<std::uint32_t> rows;

  explicit Neighbours(const NgcfTable& table)
      : begins(std::size_t{table.num_users} + table.num_items + 1) {
    table.interactions.for_each([&](std::uint32_t user, std::span<const std::uint32_t> items) {
      begins[user + std::size_t{1}] += items.size();
      for (const std::uint32_t item : items) ++begins[table.num_users + std::size_t{item} + 1];
    });
    for (std::size_t row = 1; row < begins.size(); ++row) begins[row] += begins[row - 1];
    rows.resize(begins.back());
    std::vector<std::uint64_t> ends(begins.begin(), begins.end() - 1);
    table.interactions.for_each([&](std::uint32_t user, std::span<const std::uint32_t> items) {
      for (const std::uint32_t item : items) {
        rows[ends[user]++] = table.num_users + item;
        rows[ends[table.num_users + std::size_t{item}]++] = user;
      }
    });
  }

  std::span<const std::uint32_t> of(std::size_t row) const {
    return std::span(rows).subspan(begins[row], begins[row + 1] - begins[row]);
  }
};

// One layer: reads the columns of the layer before in `vectors` and fills its own.
struct Layer {
  DenseLayer dense;
  std::uint32_t from = 0;  // first column that is read; dense.inputs / 2 of them
  std::uint32_t to = 0;    // first column that is written; dense.outputs of them
};

class Materialiser {
 public:
  Materialiser(const NgcfTable& table, std::vector<float>& vectors)
      : neighbours_(table),
        vectors_(vectors),
        num_rows_(std::size_t{table.num_users} + table.num_items),
        stride_(std::size_t{table.width} + kLayers * std::size_t{table.full}),
        blocks_((num_rows_ + kBlock - 1) / kBlock),
        threads_(threads_for(blocks_)) {
    const std::size_t inputs = 2 * std::size_t{std::max(table.width, table.full)};
    inputs_.resize(threads_ * kBlock * inputs);
    outputs_.resize(threads_ * kBlock * std::size_t{table.full});
  }

  void run(const Layer& layer) {
    for_each_block(blocks_, threads_,
                   [&](std::size_t block, std::size_t thread) { run_block(layer, block, thread); });
  }

  // Divides the columns that each layer wrote by their length: the next layer has read them before.
  void normalise(const std::vector<Layer>& layers) {
    for_each_block(blocks_, threads_, [&](std::size_t block, std::size_t) {
      for (std::size_t row = block * kBlock; row < end_of(block); ++row) {
        for (const Layer& layer : layers) normalise(row, layer);
      }
    });
  }

 private:
  std::size_t end_of(std::size_t block) const { return std::min(num_rows_, (block + 1) * kBlock); }

  void run_block(const Layer& layer, std::size_t block, std::size_t thread) {
    const std::size_t first = block * kBlock;
    const auto count = static_cast<std::uint32_t>(end_of(block) - first);
    float* const inputs = inputs_.data() + thread * (inputs_.size() / threads_);
    float* const outputs = outputs_.data() + thread * (outputs_.size() / threads_);
    for (std::uint32_t i = 0; i < count; ++i) {
      gather(layer, first + i, inputs + i * std::size_t{layer.dense.inputs});
    }
    dense_kernels().product(layer.dense, inputs, count, outputs);
    for (std::uint32_t i = 0; i < count; ++i) {
      const float* const from = outputs + i * std::size_t{layer.dense.outputs};
      float* const to = vectors_.data() + (first + i) * stride_ + layer.to;
      for (std::uint32_t j = 0; j < layer.dense.outputs; ++j) {
        to[j] = from[j] > 0 ? from[j] : kNegativeSlope * from[j];
      }
    }
  }

  // [S, E * S] of a row: the mean of itself and its neighbours, and its product with itself.
  void gather(const Layer& layer, std::size_t row, float* out) const {
    const std::uint32_t size = layer.dense.inputs / 2;
    const float* const own = vectors_.data() + row * stride_ + layer.from;
    const std::span<const std::uint32_t> others = neighbours_.of(row);
    std::copy_n(own, size, out);
    for (const std::uint32_t other : others) {
      dense_kernels().add(vectors_.data() + other * stride_ + layer.from, size, out);
    }
    const float mean = 1.0F / static_cast<float>(others.size() + 1);
    for (std::uint32_t j = 0; j < size; ++j) {
      out[j] *= mean;
      out[size + j] = own[j] * out[j];
    }
  }

  void normalise(std::size_t row, const Layer& layer) {
    float* const values = vectors_.data() + row * stride_ + layer.to;
    double squares = 0;
    for (std::uint32_t j = 0; j < layer.dense.outputs; ++j)
      squares += double{values[j]} * values[j];
    const float length = std::max(static_cast<float>(std::sqrt(squares)), kSmallestLength);
    for (std::uint32_t j = 0; j < layer.dense.outputs; ++j) values[j] /= length;
  }

  Neighbours neighbours_;
  std::vector<float>& vectors_;
  std::size_t num_rows_;
  std::size_t stride_;
  std::size_t blocks_;
  std::size_t threads_;
  std::vector<float> inputs_, outputs_;  // of each thread
};

}  // namespace

std::vector<float> ngcf_vectors(const NgcfTable& table, const std::vector<DenseWeights>& weights) {
  const std::size_t stride = std::size_t{table.width} + kLayers * std::size_t{table.full};
  std::vector<float> vectors((std::size_t{table.num_users} + table.num_items) * stride);
  float* at = vectors.data();
  for (std::uint32_t row = 0; row < table.num_users; ++row, at += stride) {
    table.users.decode(row, {at, table.width});
  }
  for (std::uint32_t row = 0; row < table.num_items; ++row, at += stride) {
    table.items.decode(row, {at, table.width});
  }
  std::vector<Layer> layers;
  for (std::uint32_t index = 0; index < kLayers; ++index) {
    const std::string name = "layer" + std::to_string(index + 1);
    const std::uint32_t columns = index == 0 ? table.width : table.full;
    Layer layer;
    layer.dense = {named_weights(weights, name + ".weight").data(),
                   named_weights(weights, name + ".bias").data(), 2 * columns, table.full};
    layer.from = index == 0 ? 0 : table.width + (index - 1) * table.full;
    layer.to = layer.from + columns;
    layers.push_back(layer);
  }
  Materialiser materialiser(table, vectors);
  for (const Layer& layer : layers) materialiser.run(layer);
  materialiser.normalise(layers);
  return vectors;
}

}  // namespace bet
