#include "runtime/dot_scorer.h"

#include <algorithm>
#include <utility>

namespace bet {
namespace {

void decode(const RowSection& rows, std::uint32_t row, std::uint32_t width,
            std::vector<float>& out) {
  out.assign(width, 0.0F);
  rows.decode(row, out);
}

}  // namespace

DotScorer::DotScorer(RowSection users, RowSection items, const ScorerInput& input,
                     std::vector<float> values)
    : VectorScorer(input.norms, input.header.score),
      values_(std::move(values)),
      users_(std::move(users)),
      items_(std::move(items)),
      width_(std::max(users_.width(), items_.width())) {}

void DotScorer::user_vector(std::uint32_t user, Scratch& scratch) const {
  decode(users_, user, width_, scratch.query);
}

void DotScorer::item_vector(std::uint32_t item, Scratch& scratch) const {
  decode(items_, item, width_, scratch.query);
}

void DotScorer::mean_vector(std::span<const std::uint32_t> items, Scratch& scratch) const {
  scratch.item_weights.assign(items_.num_rows(), 0.0F);
  for (const std::uint32_t item : items) {
    scratch.item_weights[item] += 1 / static_cast<float>(items.size());
  }
  scratch.query.assign(width_, 0.0F);
  items_.add(scratch.item_weights, scratch.query);
}

void DotScorer::score_query(const Candidates* only, Scratch& scratch) const {
  score_rows(items_, only, scratch);
}

std::unique_ptr<const Scorer> make_dot_scorer(const ScorerInput& input) {
  return std::make_unique<const DotScorer>(input.users, input.items, input);
}

}  // namespace bet
