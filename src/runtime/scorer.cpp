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

void VectorScorer::finish_scores(Scratch& scratch) const {
  if (score_ == ScoreKind::kCosine) norms_.to_cosines(length_of(scratch.query), scratch.scores);
}

void VectorScorer::score_for_user(std::uint32_t user, Scratch& scratch) const {
  user_vector(user, scratch);
  score_query(scratch);
  finish_scores(scratch);
}

void VectorScorer::score_for_items(std::span<const std::uint32_t> items, Scratch& scratch) const {
  mean_vector(items, scratch);
  score_query(scratch);
  finish_scores(scratch);
}

void VectorScorer::score_similar(std::uint32_t item, Scratch& scratch) const {
  item_vector(item, scratch);
  score_query(scratch);
  norms_.to_cosines(norms_.of(item), scratch.scores);
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
