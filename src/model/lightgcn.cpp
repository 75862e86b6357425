#include "model/backbone.h"
#include "model/bpr_loss.h"

namespace bet {
namespace {

// LightGCN (He et al., SIGIR'20): the mean of the table and of its three propagations.
class LightGcn final : public Backbone {
 public:
  LightGcn(const Graph& graph, RowPrecision precision) : graph_(graph), precision_(precision) {}

  at::Tensor loss(const ModelParameters& parameters, const TrainingPass& pass) const override {
    const at::Tensor vectors =
        propagate(parameters.values, graph_, precision_, &pass.batch.touched);
    pass.executor.join();
    return bpr_loss(vectors, parameters.models, pass.batch);
  }

  Ranking ranking(const ModelParameters& parameters) const override {
    return {propagate(parameters.values, graph_, precision_),
            {parameters.models.begin(), parameters.models.end()}};
  }

 private:
  const Graph& graph_;
  RowPrecision precision_;
};

std::unique_ptr<Backbone> make(const ModelOptions& options, const Graph& graph) {
  return std::make_unique<LightGcn>(graph, options.precision);
}

}  // namespace

extern const BackboneKind kLightGcn;
const BackboneKind kLightGcn = {backbone_traits(BackboneId::kLightGcn), {.make = make}};
static_assert(backbone_traits(BackboneId::kLightGcn).layers == 3, "propagate() has three layers");

}  // namespace bet
