#include "model/backbone.h"

#include <ATen/ops/cat.h>

#include <array>

#include "base/error.h"
#include "model/cosine.h"
#include "model/quantised_rows.h"

namespace bet {

extern const BackboneKind kMf;
extern const BackboneKind kLightGcn;
extern const BackboneKind kNcf;
extern const BackboneKind kNgcf;

namespace {

// A new backbone: its file under src/model, its name here and its row in base/backbone_traits.h.
constexpr std::array<const BackboneKind*, 4> kBackbones = {&kMf, &kLightGcn, &kNgcf, &kNcf};

}  // namespace

std::vector<LossOptions> ModelOptions::losses_of(std::size_t num_models) const {
  std::vector<LossOptions> all = losses;
  all.resize(num_models, losses.back());
  return all;
}

Ranking ranking_of(const at::Tensor& vectors, std::span<const ModelColumns> models,
                   ScoreKind score) {
  return {score == ScoreKind::kDot ? vectors : normalised(vectors, models),
          {models.begin(), models.end()}};
}

Ranking side_by_side(std::span<const Ranking> models) {
  if (models.size() == 1) return models[0];
  Ranking all;
  std::vector<at::Tensor> vectors;
  std::uint32_t first = 0;
  for (const Ranking& model : models) {
    Scoring scoring = model.models.at(0);
    scoring.columns.first += first;
    scoring.first_hidden += first;
    all.models.push_back(scoring);
    vectors.push_back(model.vectors);
    first += static_cast<std::uint32_t>(model.vectors.size(1));
  }
  all.vectors = at::cat(vectors, 1);
  return all;
}

ModelParameters Backbone::initial(std::span<const SizePlan> plans, std::uint64_t seed) const {
  return make_table(plans, seed);
}

at::Tensor Backbone::loss(const ModelParameters& parameters, const TrainingPass& pass) const {
  ModelParameters as_stored = parameters;
  as_stored.values = quantised_rows(parameters);
  return loss_by_values(as_stored, pass);
}

Ranking Backbone::ranking(const ModelParameters& parameters) const {
  ModelParameters as_stored = parameters;
  as_stored.values = quantised_rows(parameters);
  return ranking_by_values(as_stored);
}

std::vector<NamedWeights> Backbone::named_weights(const ModelParameters& /*parameters*/) const {
  return {};
}

std::span<const BackboneKind* const> backbones() { return kBackbones; }

const BackboneKind& find_backbone(std::string_view name) {
  for (const BackboneKind* kind : kBackbones) {
    if (kind->name == name) return *kind;
  }
  fail("unknown backbone ", in_quotes(name), "; there are ", backbone_names());
}

}  // namespace bet
