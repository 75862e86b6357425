#include "search/rung.h"

#include <algorithm>
#include <functional>
#include <numbers>

#include "search/training_time.h"
#include "train/loss_choice.h"
#include "train/score_noise.h"
#include "train/side_by_side.h"
#include "train/trained_scores.h"

namespace bet {
namespace {

// Ends of groups of one fold and of losses that are alike, with at most so many columns or of one
// plan.
std::vector<std::size_t> groups_of(std::span<const PlanAndLoss> trained,
                                   const BackboneKind& backbone, std::uint32_t most_columns) {
  std::vector<std::size_t> ends;
  std::uint32_t columns = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const std::uint32_t own = columns_side_by_side(*trained[i].plan, backbone);
    const bool together =
        trained[i].fold == trained[begin].fold && are_alike(trained[i].loss, trained[begin].loss);
    if (i > begin && (columns + own > most_columns || !together)) {
      ends.push_back(i);
      begin = i;
      columns = 0;
    }
    columns += own;
  }
  ends.push_back(trained.size());
  return ends;
}

// How long ranks need that take groups when they have none, the dearest first, in steps of a
// column.
double time_needed(std::span<const PlanAndLoss> trained, std::span<const std::size_t> ends,
                   const BackboneKind& backbone, const at::Device& device,
                   std::uint32_t num_ranks) {
  std::vector<double> costs;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    double columns = 0;
    for (const PlanAndLoss& one : trained.subspan(begin, end - begin)) {
      columns += columns_side_by_side(*one.plan, backbone);
    }
    costs.push_back(cost_of_step(columns, static_cast<double>(end - begin), device));
    begin = end;
  }
  std::ranges::sort(costs, std::greater<>());
  std::vector<double> busy(num_ranks);
  for (const double cost : costs) *std::ranges::min_element(busy) += cost;
  return *std::ranges::max_element(busy);
}

}  // namespace

RungTrainer::RungTrainer(const TrainingContext& context, TrainingPart final_part, bool choose_loss)
    : context_(context), final_part_(final_part), choose_loss_(choose_loss) {}

const DenserFold& RungTrainer::fold(std::uint32_t number) {
  if (!fold_ || fold_number_ != number) {
    fold_.emplace(context_, final_part_, number);
    fold_number_ = number;
  }
  return *fold_;
}

TrainingHooks RungTrainer::hooks(const PartDone& part_done) const {
  TrainingHooks hooks;
  hooks.stop = context_.hooks.stop;
  hooks.leave = context_.hooks.leave;
  if (part_done) {
    hooks.progress = [&part_done](const Progress& progress) {
      part_done(progress.total > 0 ? progress.done / progress.total : 0);
    };
  }
  return hooks;
}

std::optional<LengthByBpr> RungTrainer::length(const SizePlan& plan, const PartDone& part_done) {
  const DenserFold& data = fold(0);
  return length_by_bpr(
      {data.split(), data.graph(), data.model(), context_.schedule, hooks(part_done)}, plan,
      Rates::kUsual);
}

std::vector<LossOptions> RungTrainer::losses(const SizePlan& plan, std::uint64_t steps) const {
  if (choose_loss_) return losses_to_try(plan, backbone(), steps);
  return {for_length(context_.model.losses_of(1)[0], context_.schedule.max_steps, steps)};
}

std::size_t RungTrainer::first_loss(const SizePlan& plan, bool few_data) const {
  if (!choose_loss_) return 0;
  if (!backbone().weights.empty()) return kTriedBpr;
  return has_fast_loss(plan, backbone()) && !few_data ? kTriedFast : kTriedUsual;
}

std::vector<double> RungTrainer::scores(std::span<const PlanAndLoss> trained, std::uint64_t steps,
                                        std::uint64_t length, const PartDone& part_done) {
  const DenserFold& data = fold(trained.front().fold);
  ModelOptions model = data.model();
  model.losses.clear();
  // Plans that are trained side by side have one schedule, and so one kind of loss.
  Schedule schedule;
  std::vector<SizePlan> plans;
  for (const PlanAndLoss& one : trained) {
    const ShortTraining training =
        short_training(context_.schedule, one.loss, backbone(), length, steps);
    schedule = training.schedule;
    model.losses.push_back(training.loss);
    plans.push_back(*one.plan);
  }
  return trained_scores({data.split(), data.graph(), model, schedule, hooks(part_done)}, plans,
                        data.evaluator());
}

double RungTrainer::noise() const { return score_noise(measured_users(context_.split, kFolds)); }

std::uint32_t RungTrainer::most_columns() const {
  return most_columns_side_by_side(static_cast<std::size_t>(context_.graph.num_nodes()),
                                   context_.graph.device());
}

std::vector<std::size_t> RungTrainer::groups(std::span<const PlanAndLoss> trained,
                                             const BackboneKind& backbone,
                                             std::uint32_t most_columns, const at::Device& device,
                                             std::uint32_t num_ranks) {
  if (trained.empty()) return {};
  std::vector<std::size_t> best = groups_of(trained, backbone, most_columns);
  if (num_ranks == 1) return best;
  double least = time_needed(trained, best, backbone, device, num_ranks);
  for (std::uint32_t fewer = most_columns - 1; fewer > 0; --fewer) {
    std::vector<std::size_t> ends = groups_of(trained, backbone, fewer);
    const double time = time_needed(trained, ends, backbone, device, num_ranks);
    if (time >= least) continue;
    least = time;
    best = std::move(ends);
  }
  return best;
}

std::uint64_t fewest_ranking_steps(const BackboneKind& backbone, std::uint64_t length) {
  const bool dense = !backbone.weights.empty();
  const std::uint64_t part = dense ? 8 : 16;
  const std::uint64_t least = dense ? 100 : 50;
  return std::max(length / part, std::min(length, least));
}

ShortTraining short_training(const Schedule& schedule, const LossOptions& loss,
                             const BackboneKind& backbone, std::uint64_t length,
                             std::uint64_t steps) {
  ShortTraining training = {schedule.of_length(steps), for_length(loss, length, steps)};
  if (!backbone.weights.empty() || !schedule.linear) return training;
  const double factor = static_cast<double>(length) / static_cast<double>(steps);
  if (has_temperature(loss)) {
    // A higher rate is as good as more steps: so many times fewer have to be made up for.
    const double shorter = factor / loss.rate;
    training.loss.temperature = std::min(
        training.loss.temperature, loss.temperature * std::numbers::sqrt2 / (shorter * shorter));
  } else if (loss.kind == LossKind::kBpr) {
    training.schedule.learning_rate *= factor;
  }
  return training;
}

}  // namespace bet
