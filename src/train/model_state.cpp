#include "train/model_state.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <vector>

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

// l2 * sum over the batch's places of |row|^2 / size; columns behind a row's size are zero.
double ModelInTraining::regulariser() const {
  const float* const values = table_.values.data_ptr<float>();
  const std::int64_t stride = table_.values.size(1);
  constexpr std::int64_t kParts = 64;  // summed in one order for any number of threads
  std::vector<double> sums(kParts, 0.0);
  const std::int64_t num_rows = table_.num_rows();
  at::parallel_for(0, kParts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      for (std::int64_t row = num_rows * part / kParts; row < num_rows * (part + 1) / kParts;
           ++row) {
        if (entries_.row_count[row] == 0) continue;
        float square = 0;
        for (std::int64_t c = 0; c < stride; ++c) {
          square += values[row * stride + c] * values[row * stride + c];
        }
        sums[part] += static_cast<double>(square) * entries_.row_count[row];
      }
    }
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return options_.l2 * sum / static_cast<double>(batch_.size());
}

double ModelInTraining::step() {
  const std::uint64_t step = num_steps();
  sampler_.draw(step, schedule_.batch_kind, batch_);
  entries_.build(batch_, static_cast<std::uint32_t>(table_.num_rows()));

  table_.values.mutable_grad() = at::Tensor();
  const at::Tensor loss =
      bpr_loss(backbone_->vectors(table_, &entries_.row_count), batch_, entries_);
  loss.backward();
  const double total = loss.item<double>() + regulariser();
  BET_CHECK(std::isfinite(total), "the loss of step ", step + 1, " is ", total, " (learning rate ",
            schedule_.rate_after(step), ")");
  const double l2 = 2.0 * options_.l2 / static_cast<double>(batch_.size());
  adam_.step(table_, static_cast<float>(schedule_.rate_after(step)), entries_.row_count,
             static_cast<float>(l2));
  return total;
}

at::Tensor ModelInTraining::vectors() const {
  const c10::AutoGradMode no_gradient(false);
  return backbone_->vectors(table_).detach();
}

}  // namespace bet
