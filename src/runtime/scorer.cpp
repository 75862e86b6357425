#include "runtime/scorer.h"

#include <array>

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

}  // namespace

void VectorScorer::score_for_user(std::uint32_t user, Scratch& scratch) const {
  user_vector(user, scratch);
  score_query(scratch);
}

void VectorScorer::score_for_items(std::span<const std::uint32_t> items, Scratch& scratch) const {
  mean_vector(items, scratch);
  score_query(scratch);
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
  return sum;
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
