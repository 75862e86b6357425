#include <algorithm>
#include <cmath>

#include "runtime/dense_kernels.h"
#include "runtime/memory_size.h"
#include "runtime/parallel.h"
#include "runtime/scorer.h"
#include "runtime/weight_section.h"

namespace bet {
namespace {

// Rows at once: a multiple of the product's own tiles, little enough to stay in a core's cache.
constexpr std::uint32_t kItemsPerBlock = 96;

// Each row's units in this order and times the magnitude of their head.
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

// The hidden units of all items, [items, units]. On all cores; the result is the same on any number
// of them.
std::vector<float> units_of_items(const RowSection& items, const DenseLayer& layer) {
  const std::uint32_t num_items = items.num_rows();
  std::vector<float> units(memory_size(num_items, layer.outputs));
  const std::size_t width = layer.inputs;
  const std::size_t blocks = (std::size_t{num_items} + kItemsPerBlock - 1) / kItemsPerBlock;
  const std::size_t threads = threads_for(blocks);
  // Each thread has the hidden parts of a block, and a stored row.
  const std::size_t own = (kItemsPerBlock + 2) * width;
  std::vector<float> memory(threads * own);
  for_each_block(blocks, threads, [&](std::size_t block, std::size_t thread) {
    float* const parts = memory.data() + thread * own;
    const std::span<float> row(parts + kItemsPerBlock * width, 2 * width);
    const std::size_t first = block * kItemsPerBlock;
    const auto count =
        static_cast<std::uint32_t>(std::min<std::size_t>(kItemsPerBlock, num_items - first));
    for (std::uint32_t i = 0; i < count; ++i) {
      items.decode(static_cast<std::uint32_t>(first) + i, row);
      hidden_part(row, parts + i * width);
    }
    dense_kernels().product(layer, parts, count, units.data() + first * layer.outputs);
  });
  return units;
}

// The scores of NCF (docs/format.md, "What is served"), folded so that a request is one dot product
// with the stored rows and one pass over the items' hidden units: the weights of the products go
// into the user's row; as head * max(x, 0) = sign(head) * max(|head| x, 0), the head goes into the
// hidden units of both sides, those with a positive head first, those with a negative one after
// them. There are no vectors: what is similar, and what suits somebody new, is found by the cosine
// of stored rows.
class NcfScorer final : public Scorer {
 public:
  explicit NcfScorer(const ScorerInput& input)
      : users_(input.users),
        items_(input.items),
        norms_(input.norms),
        width_(input.width),
        head_products_(named_weights(input.weights, "head.products")) {
    const std::vector<float>& head = named_weights(input.weights, "head.hidden");
    std::vector<std::uint32_t> order(head.size());
    for (std::uint32_t unit = 0; unit < order.size(); ++unit) order[unit] = unit;
    const auto is_positive = [&](std::uint32_t unit) { return head[unit] >= 0; };
    positive_ = static_cast<std::uint32_t>(
        std::stable_partition(order.begin(), order.end(), is_positive) - order.begin());
    user_weights_ = folded(named_weights(input.weights, "hidden.user"), head, order);
    user_bias_ = folded(named_weights(input.weights, "hidden.bias"), head, order);
    const std::vector<float> item_weights =
        folded(named_weights(input.weights, "hidden.item"), head, order);
    item_units_ = units_of_items(items_, {item_weights.data(), nullptr, width_, num_units()});
  }

  void score_for_user(std::uint32_t user, const Candidates* only, Scratch& scratch) const override {
    fold_user(user, scratch);
    score_rows(items_, only, scratch);
    if (only == nullptr) return add_hidden(scratch.hidden, 0, scratch.scores);
    for (std::size_t i = 0; i < only->rows.size(); ++i) {
      add_hidden(scratch.hidden, only->rows[i], std::span(scratch.scores).subspan(i, 1));
    }
  }

  // By the mean of the cosines to the items.
  void score_for_items(std::span<const std::uint32_t> items, const Candidates* only,
                       Scratch& scratch) const override {
    scratch.item_weights.assign(items_.num_rows(), 0.0F);
    for (const std::uint32_t item : items) {
      const float length = norms_.of(item);
      if (length <= 0) continue;
      scratch.item_weights[item] += 1 / (length * static_cast<float>(items.size()));
    }
    scratch.query.assign(2 * std::size_t{width_}, 0.0F);
    items_.add(scratch.item_weights, scratch.query);
    score_cosines(1, only, scratch);
  }

  void score_similar(std::uint32_t item, const Candidates* only, Scratch& scratch) const override {
    decode(items_, item, scratch.query);
    score_cosines(norms_.of(item), only, scratch);
  }

  float score(std::uint32_t user, std::uint32_t item, Scratch& scratch) const override {
    fold_user(user, scratch);
    float score = 0;
    add_hidden(scratch.hidden, item, std::span(&score, 1));
    decode(items_, item, scratch.row);
    for (std::size_t j = 0; j < scratch.row.size(); ++j) score += scratch.query[j] * scratch.row[j];
    return score;
  }

  std::uint64_t bytes() const override {
    return sizeof(float) *
           (head_products_.size() + user_weights_.size() + user_bias_.size() + item_units_.size());
  }

 private:
  std::uint32_t num_units() const { return static_cast<std::uint32_t>(user_bias_.size()); }

  void decode(const RowSection& rows, std::uint32_t row, std::vector<float>& out) const {
    out.assign(2 * std::size_t{width_}, 0.0F);
    rows.decode(row, out);
  }

  // The cosines of scratch.query, of this length, and the items' stored rows.
  void score_cosines(float length, const Candidates* only, Scratch& scratch) const {
    score_rows(items_, only, scratch);
    scores_to_cosines(norms_, length, only, scratch);
  }

  // From the user's stored row: into scratch.query, [2 W], what it is multiplied with (the dot
  // products with items' stored rows are the products' part of the scores), and into scratch.hidden
  // its hidden units.
  void fold_user(std::uint32_t user, Scratch& scratch) const {
    decode(users_, user, scratch.row);
    scratch.query.assign(2 * std::size_t{width_}, 0.0F);
    for (std::size_t column = 0; column < width_; ++column) {
      scratch.query[2 * column] = head_products_[column] * scratch.row[2 * column];
    }
    std::vector<float> part(width_);
    hidden_part(scratch.row, part.data());
    scratch.hidden.resize(user_bias_.size());
    dense_kernels().product({user_weights_.data(), user_bias_.data(), width_, num_units()},
                            part.data(), 1, scratch.hidden.data());
  }

  // Adds the hidden units' part to the scores of the items from `first` on.
  void add_hidden(const std::vector<float>& hidden, std::uint32_t first,
                  std::span<float> scores) const {
    const HiddenUnits items{item_units_.data() + first * hidden.size(),
                            static_cast<std::uint32_t>(scores.size()), num_units(), positive_};
    dense_kernels().hidden(items, hidden.data(), scores.data());
  }

  const RowSection& users_;
  const RowSection& items_;
  const NormSection& norms_;
  std::uint32_t width_;               // W: columns of a row, of two values each
  std::uint32_t positive_ = 0;        // hidden units whose head is not negative: the first ones
  std::vector<float> head_products_;  // [W]
  std::vector<float> user_weights_;   // [W, units]
  std::vector<float> user_bias_;      // [units]
  std::vector<float> item_units_;     // [items, units]
};

}  // namespace

std::unique_ptr<const Scorer> make_ncf_scorer(const ScorerInput& input) {
  return std::make_unique<const NcfScorer>(input);
}

}  // namespace bet
