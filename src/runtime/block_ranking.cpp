#include "runtime/block_ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/dense_kernels.h"

namespace bet {
namespace {

constexpr std::uint32_t kItemsPerTile = 256;
// Scores are compared this many at a time.
constexpr std::size_t kAtOnce = 16;

float length_of(std::span<const float> values) {
  float squares = 0;
  for (const float value : values) squares += value * value;
  return std::sqrt(squares);
}

// How far the score of the product and that of the row kernels can be apart, for vectors of length
// 1: either sum of n products is within n roundings of the exact one, and some more go into scales,
// lengths and quotients.
float error_of(std::uint32_t columns) {
  return 2 * (static_cast<float>(columns) + 16) * std::numeric_limits<float>::epsilon();
}

}  // namespace

// The rows as columns, which is how the product reads them.
void BlockRanking::read_tile(std::uint32_t first, std::uint32_t count) {
  first_ = first;
  count_ = count;
  const std::size_t stride = items_.width();
  rows_.resize(std::size_t{count} * stride);
  width_ = 0;
  longest_ = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::span<float> row = std::span(rows_).subspan(i * stride, stride);
    items_.decode(first + i, row);
    std::size_t used = stride;
    while (used > width_ && row[used - 1] == 0) --used;
    width_ = static_cast<std::uint32_t>(std::max<std::size_t>(width_, used));
    const float length = length_of(row);
    if (norms_ == nullptr) {
      longest_ = std::max(longest_, length);
      continue;
    }
    const float norm = norms_->of(first + i);
    const float factor = norm > 0 ? 1 / norm : 0;
    for (float& value : row) value *= factor;
    longest_ = std::max(longest_, length * factor);
  }
  columns_.resize(std::size_t{width_} * count);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t j = 0; j < width_; ++j) columns_[j * count + i] = rows_[i * stride + j];
  }
}

void BlockRanking::pack_queries(std::span<const BlockUser> users) {
  if (packed_ == width_ && !queries_.empty()) return;
  packed_ = width_;
  queries_.resize(users.size() * width_);
  for (std::size_t i = 0; i < users.size(); ++i) {
    std::copy_n(users[i].query.begin(), width_, queries_.begin() + i * width_);
  }
}

void BlockRanking::drop_worse(Best& best, std::size_t k) {
  if (best.items.size() < k) return;
  const auto kth = best.items.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(best.items.begin(), kth, best.items.end(),
                   [](const Bounds& a, const Bounds& b) { return a.lower > b.lower; });
  best.least = kth->lower;
  std::erase_if(best.items, [&](const Bounds& item) { return item.upper < best.least; });
}

void BlockRanking::collect(const BlockUser& user, std::span<const float> scores, float error,
                           std::size_t k, Best& best) const {
  const std::size_t most = 2 * k + 64;
  for (std::size_t begin = 0; begin < scores.size(); begin += kAtOnce) {
    const std::size_t end = std::min(begin + kAtOnce, scores.size());
    float largest = scores[begin];
    for (std::size_t i = begin + 1; i < end; ++i) largest = std::max(largest, scores[i]);
    if (largest + error < best.least) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (scores[i] + error < best.least) continue;
      const auto row = static_cast<std::uint32_t>(first_ + i);
      if (std::binary_search(user.left_out.begin(), user.left_out.end(), row)) continue;
      best.items.push_back({row, scores[i] - error, scores[i] + error});
      if (best.items.size() >= most) drop_worse(best, k);
    }
  }
}

bool BlockRanking::rank(std::span<const BlockUser> users, std::size_t k,
                        std::vector<std::vector<std::uint32_t>>& candidates) {
  constexpr float kTooLong = 1e30F;
  best_.resize(users.size());
  lengths_.clear();
  for (std::size_t i = 0; i < users.size(); ++i) {
    best_[i].items.clear();
    best_[i].least = -std::numeric_limits<float>::infinity();
    lengths_.push_back(length_of(users[i].query));
  }
  queries_.clear();
  for (std::uint32_t first = 0; first < items_.num_rows(); first += kItemsPerTile) {
    read_tile(first, std::min(kItemsPerTile, items_.num_rows() - first));
    pack_queries(users);
    scores_.assign(users.size() * count_, 0.0F);
    if (width_ > 0) {
      dense_kernels().product({columns_.data(), nullptr, width_, count_}, queries_.data(),
                              static_cast<std::uint32_t>(users.size()), scores_.data());
    }
    for (std::size_t i = 0; i < users.size(); ++i) {
      const float largest = lengths_[i] * longest_;
      if (!(largest < kTooLong)) return false;
      collect(users[i], std::span(scores_).subspan(i * count_, count_), error_of(width_) * largest,
              k, best_[i]);
    }
  }
  candidates.resize(users.size());
  for (std::size_t i = 0; i < users.size(); ++i) {
    drop_worse(best_[i], k);
    candidates[i].clear();
    for (const Bounds& item : best_[i].items) candidates[i].push_back(item.row);
    std::sort(candidates[i].begin(), candidates[i].end());
  }
  return true;
}

}  // namespace bet
