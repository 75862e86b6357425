#include "model/backbone.h"
#include "model/batch_loss.h"

namespace bet {
namespace {

// Matrix factorisation: a score is the dot product of two rows of the table.
class Mf final : public Backbone {
 public:
  explicit Mf(const ModelOptions& options) : options_(options) {}

  at::Tensor loss_by_values(const ModelParameters& parameters,
                            const TrainingPass& pass) const override {
    pass.executor.join();
    return batch_loss(parameters.values, parameters.models, pass.batch,
                      options_.losses_of(parameters.models.size()), options_.ranks);
  }

  Ranking ranking_by_values(const ModelParameters& parameters) const override {
    return ranking_of(parameters.values, parameters.models, options_.losses[0].score,
                      options_.ranks);
  }

 private:
  ModelOptions options_;
};

std::unique_ptr<Backbone> make(const ModelOptions& options, const Graph& /*graph*/) {
  return std::make_unique<Mf>(options);
}

}  // namespace

extern const BackboneKind kMf;
const BackboneKind kMf = {
    backbone_traits(BackboneId::kMf),
    {.sums_columns = true, .fast = {.far_rate = 32, .temperature = 6}, .make = make}};

}  // namespace bet
