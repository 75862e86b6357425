#include "model/backbone.h"

#include <ATen/ops/cat.h>

#include <array>

#include "base/error.h"
#include "model/cosine.h"
#include "model/quantised_rows.h"
#include "plan/column_slice.h"

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

Ranking ranking_of(const at::Tensor& vectors, std::span<const ModelColumns> models, ScoreKind score,
                   RankGroup* ranks) {
  Ranking ranking{score == ScoreKind::kDot ? vectors : normalised(vectors, models),
                  {models.begin(), models.end()}};
  for (Scoring& scoring : ranking.models) scoring.ranks = ranks;
  return ranking;
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

namespace {

// Throws, naming the rank, if another one has other data, another plan or another seed.
void check_same_training(RankGroup& ranks, const SizePlan& plan, const Graph& graph,
                         std::uint64_t seed) {
  constexpr std::array<const char*, 6> kNames = {"users",   "items",      "edges",
                                                 "columns", "parameters", "seed"};
  const std::array<std::uint64_t, kNames.size()> own = {
      graph.num_users, graph.num_items,   static_cast<std::uint64_t>(graph.columns.size(0)),
      plan.width(),    plan.num_params(), seed};
  std::vector<std::uint64_t> all(own.size() * ranks.size());
  ranks.gather_to_all(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
  for (std::size_t i = own.size(); i < all.size(); ++i) {
    const std::uint64_t first = all[i % own.size()];
    const char* const name = kNames[i % own.size()];
    BET_CHECK(all[i] == first, "rank ", i / own.size(), " has ", name, " = ", all[i],
              ", and rank 0 ", name, " = ", first,
              ": all ranks must train the same plan on the same data");
  }
}

}  // namespace

ModelParameters initial_parameters(const ModelOptions& options, const Graph& graph,
                                   std::span<const SizePlan> plans) {
  if (options.ranks == nullptr) {
    return make_backbone(options, graph)->initial(plans, options.seed);
  }
  const auto refuse = [&](const auto&... why) {
    fail("a table over ", options.ranks->size(), " ranks: ", why...);
  };
  if (!find_backbone(options.backbone).sums_columns) {
    refuse("--backbone ", options.backbone, " cannot be divided by columns; mf and lightgcn can");
  }
  for (const LossOptions& loss : options.losses) {
    if (loss.score != ScoreKind::kDot) refuse("--score must be dot");
  }
  if (!graph.device().is_cpu()) refuse("--device must be cpu, and is ", graph.device().str());
  if (plans.size() != 1) refuse(plans.size(), " plans side by side; there can be one");
  check_same_training(*options.ranks, plans[0], graph, options.seed);
  const ColumnSlice slice{options.ranks->rank(), options.ranks->size()};
  return make_table(slice_of(plans[0], slice), options.seed, 0.01, slice);
}

std::span<const BackboneKind* const> backbones() { return kBackbones; }

const BackboneKind& find_backbone(std::string_view name) {
  for (const BackboneKind* kind : kBackbones) {
    if (kind->name == name) return *kind;
  }
  fail("unknown backbone ", in_quotes(name), "; there are ", backbone_names());
}

}  // namespace bet
