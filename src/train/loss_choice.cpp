#include "train/loss_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/error.h"
#include "train/trained_scores.h"

namespace bet {
namespace {

// Another loss than BPR must be better by this much: less is noise.
constexpr double kClearly = 0.01;

// Of cosines: between 0.1 and 0.2, where all data sets that were tried have their best.
constexpr double kCosineTemperature = 0.14;

// Rows of more columns, and longer trainings, are tried by trainings of half the length.
constexpr std::uint32_t kWide = 32;
constexpr std::uint64_t kLong = 400;

// Trains the plan by each of these losses, which have one kind of score, side by side, to the end
// of the schedule. Empty if hooks.stop ended it.
std::vector<LossTrial> try_losses(const TrainingContext& context, const SizePlan& plan,
                                  std::span<const LossOptions> losses) {
  ModelOptions options = context.model;
  options.losses.assign(losses.begin(), losses.end());
  const std::vector<SizePlan> plans(losses.size(), plan);
  const Evaluator evaluator(context.split, HeldOut::kValidation, context.graph);
  const std::vector<double> scores = trained_scores(
      {context.split, context.graph, options, context.schedule, context.hooks}, plans, evaluator);
  std::vector<LossTrial> trials;
  for (std::size_t i = 0; i < scores.size(); ++i) trials.push_back({losses[i], scores[i]});
  return trials;
}

}  // namespace

LossOptions usual_loss(const SizePlan& plan, const BackboneKind& backbone, std::uint64_t steps) {
  const double row_params = static_cast<double>(plan.num_params()) /
                            static_cast<double>(plan.shape().num_rows() * backbone.tables);
  // A temperature of t with Adam is a learning rate and initial values of 1 / sqrt(t) of theirs: a
  // longer way needs shorter steps.
  constexpr std::uint64_t kSteps = 400;
  return for_length(
      {LossKind::kSoftmax, backbone.fast.temperature * std::sqrt(std::max(row_params, 1.0))},
      kSteps, steps);
}

std::vector<LossOptions> losses_to_try(const SizePlan& plan, const BackboneKind& backbone,
                                       std::uint64_t steps) {
  const LossOptions usual = usual_loss(plan, backbone, steps);
  std::vector<LossOptions> losses = {LossOptions()};
  for (const double factor : {0.5, 1.0, 2.0}) {
    losses.push_back({LossKind::kSoftmax, factor * usual.temperature});
  }
  if (backbone.dot_product) {
    losses.push_back({LossKind::kSoftmax, kCosineTemperature, ScoreKind::kCosine});
  }
  return losses;
}

std::size_t num_losses_to_try(const BackboneKind& backbone) { return backbone.dot_product ? 5 : 4; }

LossChoice choose_loss(const TrainingContext& context, const SizePlan& plan, std::uint64_t steps,
                       const StateFile& cache) {
  const auto log = [&](const std::string& text) {
    if (context.hooks.log) context.hooks.log(text);
  };
  const BackboneKind& backbone = find_backbone(context.model.backbone);
  if (!cache.path.empty()) {
    try {
      if (const std::optional<Checkpoint> known = cache.read()) {
        log("loss taken from " + cache.path.string());
        return {load_loss(*known), {}};
      }
    } catch (const Error& error) {
      log(std::string("the cache was not used: ") + error.what());
    }
  }
  const bool wide = row_stride(plan.width() * backbone.tables) > kWide;
  const bool halves = wide || steps > kLong;
  const std::uint64_t length = std::max<std::uint64_t>(1, halves ? steps / 2 : steps);
  const Schedule schedule = context.schedule.of_length(length);
  TrainingHooks hooks = context.hooks;
  hooks.save = nullptr;
  hooks.log = nullptr;
  double done = 0;
  if (hooks.progress) {
    hooks.progress = [&](Progress progress) {
      progress.phase = "loss";
      progress.done += done;
      progress.total = 2 * static_cast<double>(length);
      context.hooks.progress(progress);
    };
  }
  const TrainingContext trying = {context.split, context.graph, context.model, schedule, hooks};
  LossChoice choice;
  choice.loss = usual_loss(plan, backbone, steps);
  const std::vector<LossOptions> all = losses_to_try(plan, backbone, length);
  // Losses of one kind of score are trained side by side.
  const auto cosines = std::ranges::find(all, ScoreKind::kCosine, &LossOptions::score);
  for (const std::span<const LossOptions> group :
       {std::span(all.begin(), cosines), std::span(cosines, all.end())}) {
    if (group.empty()) continue;
    const std::vector<LossTrial> tried = try_losses(trying, plan, group);
    if (tried.empty()) {
      choice.stopped = true;
      return choice;
    }
    for (const LossTrial& trial : tried) {
      char score[32];
      std::snprintf(score, sizeof(score), "%.5f", trial.score);
      log("loss " + loss_text(trial.loss) + ": validation score " + score);
    }
    choice.trials.insert(choice.trials.end(), tried.begin(), tried.end());
    done += static_cast<double>(length);
  }
  const auto best = std::ranges::max_element(choice.trials, {}, &LossTrial::score);
  const LossTrial& bpr = choice.trials.front();
  const bool clearly = best->score > (1 + kClearly) * bpr.score;
  choice.loss = for_length(clearly ? best->loss : bpr.loss, length, steps);
  if (!cache.path.empty()) {
    try {
      std::filesystem::create_directories(cache.path.parent_path());
      Checkpoint found;
      save_loss(found, choice.loss);
      cache.write(std::move(found));
    } catch (const std::exception& error) {
      log(std::string("the cache was not written: ") + error.what());
    }
  }
  return choice;
}

void save_loss(Checkpoint& checkpoint, const LossOptions& loss) {
  checkpoint.numbers["loss kind"] = static_cast<double>(loss.kind);
  checkpoint.numbers["loss temperature"] = loss.temperature;
  checkpoint.numbers["loss score"] = static_cast<double>(loss.score);
}

LossOptions load_loss(const Checkpoint& checkpoint) {
  if (!checkpoint.numbers.contains("loss kind")) return {};
  const auto known = [&](const char* name, double count) {
    const double value = checkpoint.number(name);
    BET_CHECK(value == 0 || (value > 0 && value < count), "a state with ", name, " ", value);
    return value != 0;
  };
  return {known("loss kind", 2) ? LossKind::kSoftmax : LossKind::kBpr,
          checkpoint.number("loss temperature"),
          known("loss score", 2) ? ScoreKind::kCosine : ScoreKind::kDot};
}

}  // namespace bet
