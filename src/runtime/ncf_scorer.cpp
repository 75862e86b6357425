#include "runtime/ncf.h"

#include <algorithm>
#include <cmath>

#include "runtime/dense_kernels.h"
#include "runtime/parallel.h"
#include "runtime/weight_section.h"

namespace bet {
namespace {

// Rows at once: a multiple of the product's own tiles, little enough to stay in a core's cache.
constexpr std::uint32_t kBlock = 96;

// Each row's units in this order and times the size of their head.
std::vector<float> folded(const std::vector<float>& values, const std::vector<float>& head,
                          const std::vector<std::uint32_t>& order) {
  std::vector<float> result;
  result.reserve(values.size());
  for (std::size_t row = 0; row < values.size(); row += head.size()) {
    for (const std::uint32_t unit : order)
      result.push_back(values[row + unit] * std::abs(head[unit]));
  }
  return result;
}

// The hidden part of a stored row.
void hidden_part(std::span<const float> row, float* out) {
  for (std::size_t column = 0; column < row.size() / 2; ++column) out[column] = row[2 * column + 1];
}

std::vector<float> units_of_items(const RowSection& items, std::uint32_t num_items,
                                  const DenseLayer& layer) {
  std::vector<float> units(std::size_t{num_items} * layer.outputs);
  const std::size_t width = layer.inputs;
  const std::size_t blocks = (std::size_t{num_items} + kBlock - 1) / kBlock;
  const std::size_t threads = threads_for(blocks);
  // Of each thread: a block's hidden parts, and a stored row.
  const std::size_t own = (kBlock + 2) * width;
  std::vector<float> memory(threads * own);
  for_each_block(blocks, threads, [&](std::size_t block, std::size_t thread) {
    float* const parts = memory.data() + thread * own;
    const std::span<float> row(parts + kBlock * width, 2 * width);
    const std::size_t first = block * kBlock;
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(kBlock, num_items - first));
    for (std::uint32_t i = 0; i < count; ++i) {
      items.decode(static_cast<std::uint32_t>(first) + i, row);
      hidden_part(row, parts + i * width);
    }
    dense_kernels().product(layer, parts, count, units.data() + first * layer.outputs);
  });
  return units;
}

}  // namespace

NcfScorer::NcfScorer(const RowSection& items, std::uint32_t num_items, std::uint32_t width,
                     const std::vector<DenseWeights>& weights)
    : width_(width), head_products_(named_weights(weights, "head.products")) {
  const std::vector<float>& head = named_weights(weights, "head.hidden");
  std::vector<std::uint32_t> order(head.size());
  for (std::uint32_t unit = 0; unit < order.size(); ++unit) order[unit] = unit;
  const auto counts = [&](std::uint32_t unit) { return head[unit] >= 0; };
  positive_ = static_cast<std::uint32_t>(std::stable_partition(order.begin(), order.end(), counts) -
                                         order.begin());
  user_weights_ = folded(named_weights(weights, "hidden.user"), head, order);
  user_bias_ = folded(named_weights(weights, "hidden.bias"), head, order);
  const std::vector<float> item_weights =
      folded(named_weights(weights, "hidden.item"), head, order);
  item_units_ = units_of_items(
      items, num_items,
      {item_weights.data(), nullptr, width, static_cast<std::uint32_t>(head.size())});
}

void NcfScorer::fold_user(std::span<const float> row, std::vector<float>& query,
                          std::vector<float>& hidden) const {
  query.assign(2 * std::size_t{width_}, 0.0F);
  for (std::size_t column = 0; column < width_; ++column) {
    query[2 * column] = head_products_[column] * row[2 * column];
  }
  std::vector<float> part(width_);
  hidden_part(row.first(2 * std::size_t{width_}), part.data());
  hidden.resize(user_bias_.size());
  dense_kernels().product({user_weights_.data(), user_bias_.data(), width_,
                           static_cast<std::uint32_t>(user_bias_.size())},
                          part.data(), 1, hidden.data());
}

void NcfScorer::add_hidden(const std::vector<float>& hidden, std::uint32_t first,
                           std::span<float> scores) const {
  const HiddenUnits items{item_units_.data() + first * hidden.size(),
                          static_cast<std::uint32_t>(scores.size()),
                          static_cast<std::uint32_t>(hidden.size()), positive_};
  dense_kernels().hidden(items, hidden.data(), scores.data());
}

std::uint64_t NcfScorer::bytes() const {
  return sizeof(float) *
         (head_products_.size() + user_weights_.size() + user_bias_.size() + item_units_.size());
}

}  // namespace bet
