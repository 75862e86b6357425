#include "model/backbone.h"
#include "model/bpr_loss.h"

namespace bet {
namespace {

// Matrix factorisation: a score is the dot product of two rows of the table.
class Mf final : public Backbone {
 public:
  at::Tensor loss(const ModelParameters& parameters, const TrainingPass& pass) const override {
    pass.executor.join();
    return bpr_loss(parameters.values, parameters.models, pass.batch);
  }

  Ranking ranking(const ModelParameters& parameters) const override {
    return {parameters.values, {parameters.models.begin(), parameters.models.end()}};
  }
};

std::unique_ptr<Backbone> make(const ModelOptions& /*options*/, const Graph& /*graph*/) {
  return std::make_unique<Mf>();
}

}  // namespace

extern const BackboneKind kMf;
const BackboneKind kMf = {backbone_traits(BackboneId::kMf), {.make = make}};

}  // namespace bet
