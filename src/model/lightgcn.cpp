#include "model/backbone.h"
#include "model/batch_loss.h"
#include "model/quantised_rows.h"

namespace bet {
namespace {

// LightGCN (He et al., SIGIR'20): the mean of the table and of its three propagations.
class LightGcn final : public Backbone {
 public:
  LightGcn(const ModelOptions& options, const Graph& graph) : options_(options), graph_(graph) {}

  at::Tensor loss_by_values(const ModelParameters& parameters,
                            const TrainingPass& pass) const override {
    const at::Tensor vectors = quantised_vectors(
        propagate(parameters.values, graph_, options_.precision, &pass.batch.touched), parameters);
    pass.executor.join();
    return batch_loss(vectors, parameters.models, pass.batch,
                      options_.losses_of(parameters.models.size()), options_.ranks);
  }

  Ranking ranking_by_values(const ModelParameters& parameters) const override {
    const at::Tensor vectors =
        quantised_vectors(propagate(parameters.values, graph_, options_.precision), parameters);
    return ranking_of(vectors, parameters.models, options_.losses[0].score, options_.ranks);
  }

 private:
  ModelOptions options_;
  const Graph& graph_;
};

std::unique_ptr<Backbone> make(const ModelOptions& options, const Graph& graph) {
  return std::make_unique<LightGcn>(options, graph);
}

}  // namespace

extern const BackboneKind kLightGcn;
const BackboneKind kLightGcn = {
    backbone_traits(BackboneId::kLightGcn),
    {.trains_vectors = true, .sums_columns = true, .fast = {.quantised_rate = 2}, .make = make}};
static_assert(backbone_traits(BackboneId::kLightGcn).layers == 3, "propagate() has three layers");

}  // namespace bet
