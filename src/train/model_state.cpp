#include "train/model_state.h"

#include <c10/core/GradMode.h>

#include <cmath>

#include "base/error.h"

namespace bet {

ModelInTraining::ModelInTraining(const Graph& graph, const SizePlan& plan,
                                 const ModelOptions& options, const Schedule& schedule)
    : graph_(graph),
      options_(options),
      schedule_(schedule),
      table_(make_table(plan, options.seed)),
      adam_(table_, schedule.adam),
      backbone_(make_backbone(options.backbone, graph, options.precision)),
      sampler_(graph, options.seed) {
  BET_CHECK(table_.num_rows() == graph.num_nodes(), "a plan of ", table_.num_rows(),
            " rows for a graph of ", graph.num_nodes(), " users and items");
  schedule_.validate();
  batch_.resize(schedule_.triples_for(sampler_.num_users()));
}

double ModelInTraining::step() {
  const std::uint64_t step = num_steps();
  sampler_.draw(step, schedule_.batch_kind, batch_);
  entries_.build(batch_, static_cast<std::uint32_t>(table_.num_rows()));

  table_.values.mutable_grad() = at::Tensor();
  const at::Tensor loss =
      bpr_loss(backbone_->vectors(table_, &entries_.row_count), batch_, entries_);
  loss.backward();
  const double rate = schedule_.rate_after(step);
  const auto size = static_cast<double>(batch_.size());
  // The regulariser l2 * sum of the batch's squared rows / size comes out of Adam's pass.
  const double squares = adam_.step(table_, static_cast<float>(rate), entries_.row_count,
                                    static_cast<float>(2.0 * options_.l2 / size));
  const double total = loss.item<double>() + options_.l2 * squares / size;
  BET_CHECK(std::isfinite(total), "the loss of step ", step + 1, " is ", total, " (learning rate ",
            rate, ")");
  return total;
}

at::Tensor ModelInTraining::vectors() const {
  const c10::AutoGradMode no_gradient(false);
  return backbone_->vectors(table_).detach();
}

}  // namespace bet
