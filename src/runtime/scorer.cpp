#include "runtime/scorer.h"

#include <array>
#include <cmath>

namespace bet {
namespace {

struct ScorerKind {
  BackboneId backbone;
  Serving serving;
  std::unique_ptr<const Scorer> (*make)(const ScorerInput& input);
};

// All others are scored by the dot products of their rows.
constexpr std::array<ScorerKind, 3> kScorers = {{
    {BackboneId::kLightGcn, Serving::kGraph, make_graph_scorer},
    {BackboneId::kNgcf, Serving::kGraph, make_ngcf_scorer},
    {BackboneId::kNcf, Serving::kVectors, make_ncf_scorer},
}};

float length_of(const std::vector<float>& vector) {
  double squares = 0;
  for (const float value : vector) squares += double{value} * value;
  return static_cast<float>(std::sqrt(squares));
}

}  // namespace

void score_rows(const RowSection& items, const Candidates* only, Scratch& scratch) {
  scratch.scores.resize(only == nullptr ? items.num_rows() : only->rows.size());
  if (only == nullptr) {
    items.dots(scratch.query, scratch.scores);
  } else {
    items.dots(scratch.query, only->rows, scratch.scores);
  }
}

void scores_to_cosines(const NormSection& norms, float length, const Candidates* only,
                       Scratch& scratch) {
  if (only == nullptr) {
    norms.to_cosines(length, scratch.scores);
  } else {
    norms.to_cosines(length, only->rows, scratch.scores);
  }
}

void VectorScorer::finish_scores(const Candidates* only, Scratch& scratch) const {
  if (score_ == ScoreKind::kCosine) {
    scores_to_cosines(norms_, length_of(scratch.query), only, scratch);
  }
}

void VectorScorer::score_for_user(std::uint32_t user, const Candidates* only,
                                  Scratch& scratch) const {
  user_vector(user, scratch);
  score_query(only, scratch);
  finish_scores(only, scratch);
}

void VectorScorer::score_for_items(std::span<const std::uint32_t> items, const Candidates* only,
                                   Scratch& scratch) const {
  mean_vector(items, scratch);
  score_query(only, scratch);
  finish_scores(only, scratch);
}

void VectorScorer::score_similar(std::uint32_t item, const Candidates* only,
                                 Scratch& scratch) const {
  item_vector(item, scratch);
  score_query(only, scratch);
  scores_to_cosines(norms_, norms_.of(item), only, scratch);
}

float VectorScorer::score(std::uint32_t user, std::uint32_t item, Scratch& scratch) const {
  user_vector(user, scratch);
  const std::vector<float> of_user = scratch.query;
  item_vector(item, scratch);
  float sum = 0;
  for (std::size_t j = 0; j < of_user.size(); ++j) sum += of_user[j] * scratch.query[j];
  if (score_ == ScoreKind::kDot) return sum;
  return NormSection::cosine(sum, length_of(of_user), norms_.of(item));
}

std::unique_ptr<const Scorer> make_scorer(const ScorerInput& input) {
  for (const ScorerKind& kind : kScorers) {
    if (kind.backbone == input.header.backbone && kind.serving == input.header.serving) {
      return kind.make(input);
    }
  }
  return make_dot_scorer(input);
}

}  // namespace bet
