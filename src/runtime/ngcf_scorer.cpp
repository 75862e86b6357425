#include <algorithm>
#include <cmath>
#include <string>

#include "runtime/dense_kernels.h"
#include "runtime/dot_scorer.h"
#include "runtime/memory_size.h"
#include "runtime/parallel.h"
#include "runtime/weight_section.h"

namespace bet {
namespace {

constexpr std::uint32_t kLayers = backbone_traits(BackboneId::kNgcf).layers;
constexpr float kNegativeSlope = 0.2F;
constexpr float kSmallestLength = 1e-12F;
// Rows at once: a multiple of the product's own tiles, little enough to stay in a core's cache.
constexpr std::uint32_t kRowsPerBlock = 48;

// The neighbours of every row, users first: both directions of the interactions.
struct Neighbours {
  std::vector<std::size_t> begins;  // [rows + 1]
  std::vector<std::uint32_t> rows;

  explicit Neighbours(const ScorerInput& input)
      : begins(memory_size(std::uint64_t{input.header.num_users} + input.header.num_items + 1, 1)) {
    const std::uint32_t num_users = input.header.num_users;
    input.interactions.for_each([&](std::uint32_t user, std::span<const std::uint32_t> items) {
      begins[user + std::size_t{1}] += items.size();
      for (const std::uint32_t item : items) ++begins[num_users + std::size_t{item} + 1];
    });
    rows.resize(memory_size(input.interactions.num_interactions(), 2));
    for (std::size_t row = 1; row < begins.size(); ++row) begins[row] += begins[row - 1];
    std::vector<std::size_t> ends(begins.begin(), begins.end() - 1);
    input.interactions.for_each([&](std::uint32_t user, std::span<const std::uint32_t> items) {
      for (const std::uint32_t item : items) {
        rows[ends[user]++] = num_users + item;
        rows[ends[num_users + std::size_t{item}]++] = user;
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

// Fills the vectors layer by layer. On all cores; the result is the same on any number of them.
class Materialiser {
 public:
  // `vectors`: [users, then items; stride], with the table's columns filled in.
  Materialiser(const ScorerInput& input, std::size_t stride, std::vector<float>& vectors)
      : neighbours_(input),
        vectors_(vectors),
        num_rows_(std::size_t{input.header.num_users} + input.header.num_items),
        stride_(stride),
        blocks_((num_rows_ + kRowsPerBlock - 1) / kRowsPerBlock),
        threads_(threads_for(blocks_)) {
    const std::uint32_t dim = input.header.max_dim;
    inputs_.resize(threads_ * kRowsPerBlock * 2 * std::size_t{std::max(input.width, dim)});
    outputs_.resize(threads_ * kRowsPerBlock * std::size_t{dim});
  }

  void run(const Layer& layer) {
    for_each_block(blocks_, threads_,
                   [&](std::size_t block, std::size_t thread) { run_block(layer, block, thread); });
  }

  // Divides the columns that each layer wrote by their length: the next layer has read them before.
  void normalise(const std::vector<Layer>& layers) {
    for_each_block(blocks_, threads_, [&](std::size_t block, std::size_t) {
      for (std::size_t row = block * kRowsPerBlock; row < end_of(block); ++row) {
        for (const Layer& layer : layers) normalise(row, layer);
      }
    });
  }

 private:
  std::size_t end_of(std::size_t block) const {
    return std::min(num_rows_, (block + 1) * kRowsPerBlock);
  }

  void run_block(const Layer& layer, std::size_t block, std::size_t thread) {
    const std::size_t first = block * kRowsPerBlock;
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

std::vector<Layer> make_layers(const ScorerInput& input) {
  const std::uint32_t dim = input.header.max_dim;
  std::vector<Layer> layers;
  for (std::uint32_t index = 0; index < kLayers; ++index) {
    const std::string name = "layer" + std::to_string(index + 1);
    const std::uint32_t columns = index == 0 ? input.width : dim;
    Layer layer;
    layer.dense = {named_weights(input.weights, name + ".weight").data(),
                   named_weights(input.weights, name + ".bias").data(), 2 * columns, dim};
    layer.from = index == 0 ? 0 : input.width + (index - 1) * dim;
    layer.to = layer.from + columns;
    layers.push_back(layer);
  }
  return layers;
}

// The vectors of all rows: [users, then items; stride].
std::vector<float> ngcf_vectors(const ScorerInput& input, std::size_t stride) {
  std::vector<float> vectors(
      memory_size(std::uint64_t{input.header.num_users} + input.header.num_items, stride));
  float* at = vectors.data();
  for (const RowSection* side : {&input.users, &input.items}) {
    for (std::uint32_t row = 0; row < side->num_rows(); ++row, at += stride) {
      side->decode(row, {at, input.width});
    }
  }
  const std::vector<Layer> layers = make_layers(input);
  Materialiser materialiser(input, stride, vectors);
  for (const Layer& layer : layers) materialiser.run(layer);
  materialiser.normalise(layers);
  return vectors;
}

}  // namespace

// NGCF by graph: the vectors of all rows, W + 3 D columns each, are made when the file is opened
// (docs/format.md, "What is served").
std::unique_ptr<const Scorer> make_ngcf_scorer(const ScorerInput& input) {
  const FileHeader& header = input.header;
  const std::uint32_t columns = input.width + kLayers * header.max_dim;
  std::vector<float> vectors = ngcf_vectors(input, columns);
  const std::span<const float> all(vectors);
  const std::size_t of_users = std::size_t{header.num_users} * columns;
  RowSection users(all.first(of_users), header.num_users, columns);
  RowSection items(all.subspan(of_users), header.num_items, columns);
  return std::make_unique<const DotScorer>(std::move(users), std::move(items), input,
                                           std::move(vectors));
}

}  // namespace bet
