#include "train/loss_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <type_traits>

#include "base/error.h"
#include "base/row_quantiser.h"
#include "train/length_by_bpr.h"
#include "train/score_noise.h"
#include "train/side_by_side.h"
#include "train/temperature.h"
#include "train/trained_scores.h"

namespace bet {
namespace {

// A loss that is better than BPR, but by less than so many times the noise, may not be so finally.
constexpr double kNearlyEqual = 3;

// Of cosines: between 0.1 and 0.2, where all data sets that were tried have their best.
constexpr double kCosineTemperature = 0.14;

// Trains the plan by each of these losses, which are alike, side by side, to the end
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
  if (has_fast_loss(plan, backbone)) {
    constexpr std::uint64_t kSteps = 800;  // for which the usual temperature suits this rate too
    LossOptions fast = usual_loss(plan, backbone, kSteps);
    fast.rate = backbone.fast.quantised_rate;
    for (const double factor : {1.0, 2.0}) {
      losses.push_back(for_length(fast, kSteps, steps));
      losses.back().temperature *= factor;
    }
  } else if (backbone.dot_product) {
    losses.push_back({LossKind::kSoftmax, kCosineTemperature, ScoreKind::kCosine});
  }
  return losses;
}

std::size_t most_losses_to_try(const BackboneKind& backbone) {
  if (backbone.fast.quantised_rate != 1) return 6;
  return backbone.dot_product ? 5 : 4;
}

bool has_fast_loss(const SizePlan& plan, const BackboneKind& backbone) {
  const bool quantised = is_integer(plan.precision().users) || is_integer(plan.precision().items);
  return quantised && backbone.fast.quantised_rate != 1;
}

namespace {

class LossSearcher {
 public:
  LossSearcher(const TrainingContext& context, const SizePlan& plan, std::uint64_t usual_length)
      : context_(context),
        plan_(plan),
        backbone_(find_backbone(context.model.backbone)),
        usual_length_(usual_length) {}

  LossChoice choose() {
    LossChoice choice;
    choice.chosen = {usual_loss(plan_, backbone_, usual_length_), usual_length_};
    choice.stopped = true;
    const std::optional<LengthByBpr> bpr = with_length(
        whole(), static_cast<double>(whole()) / 2,
        [this](const TrainingContext& context) { return length_by_bpr(context, plan_); });
    if (!bpr) return choice;
    // Of a plan of vectors it is another model's, and BPR is not one of the losses.
    const bool tries_bpr = plan_.form() == StoredForm::kTable;
    LossOptions by_bpr;
    by_bpr.rate = bpr->rate;
    const std::uint64_t length = bpr->is_short ? usual_length_ : whole();
    if (tries_bpr) {
      LossTrial trial = {by_bpr, bpr->score};
      // Else the others would be ahead by their longer trainings.
      if (!bpr->is_short) {
        const std::vector<LossTrial> tried = try_side_by_side(length, std::span(&by_bpr, 1));
        if (tried.empty()) return choice;
        trial.score = std::max(trial.score, tried.front().score);
      }
      note(choice, trial);
    }
    if (!try_softmaxes(length, choice) || !try_more_temperatures(length, choice)) return choice;
    choice.stopped = false;
    const LossTrial& best = *std::ranges::max_element(choice.trials, {}, &LossTrial::score);
    if (best.loss.kind == LossKind::kBpr) {
      choice.chosen = {by_bpr, bpr->length};
      return choice;
    }
    LossOptions softmax = best.loss;
    if (has_temperature(softmax)) softmax.temperature = best_temperature(choice.trials);
    choice.chosen = {softmax, length};
    const double noise = score_noise(measured_users(context_.split));
    choice.nearly_bpr =
        tries_bpr && best.score < (1 + kNearlyEqual * noise) * choice.trials.front().score;
    return choice;
  }

 private:
  std::uint64_t whole() const { return context_.schedule.max_steps; }

  // Calls `train` with the context of a training by a schedule of this many steps. For the
  // progress of all trainings together it counts as `work` steps.
  template <typename Train>
  std::invoke_result_t<Train, const TrainingContext&> with_length(std::uint64_t steps, double work,
                                                                  const Train& train) {
    TrainingHooks hooks = context_.hooks;
    hooks.save = nullptr;
    hooks.log = nullptr;
    if (hooks.progress) {
      hooks.progress = [this, done = done_, work](Progress progress) {
        progress.phase = "loss";
        const auto length = static_cast<double>(whole());
        const double part = std::min(progress.done / progress.total, 1.0);
        progress.done = std::min((done + part * work) / length, kChoiceTrainings);
        progress.total = kChoiceTrainings + kFollowingTrainings;
        context_.hooks.progress(progress);
      };
    }
    done_ += work;
    const Schedule schedule = context_.schedule.of_length(steps);
    return train(TrainingContext{context_.split, context_.graph, context_.model, schedule, hooks});
  }

  // False if hooks.stop ended it.
  bool try_softmaxes(std::uint64_t steps, LossChoice& choice) {
    const std::vector<LossOptions> all = losses_to_try(plan_, backbone_, steps);
    std::span<const LossOptions> left = std::span(all).subspan(kTriedBpr + 1);
    while (!left.empty()) {
      const auto other = std::ranges::find_if(
          left, [&](const LossOptions& loss) { return !are_alike(loss, left.front()); });
      const auto alike = static_cast<std::size_t>(other - left.begin());
      const std::size_t count = std::min(alike, most_side_by_side());
      const std::vector<LossTrial> tried = try_side_by_side(steps, left.first(count));
      if (tried.empty()) return false;
      for (const LossTrial& trial : tried) note(choice, trial);
      left = left.subspan(count);
    }
    return true;
  }

  // Until the best is between two others. False if hooks.stop ended it.
  bool try_more_temperatures(std::uint64_t steps, LossChoice& choice) {
    for (int more = 0; more < kMoreTemperatures; ++more) {
      const std::optional<double> next = next_temperature(choice.trials);
      if (!next) break;
      LossOptions loss = std::ranges::max_element(choice.trials, {}, &LossTrial::score)->loss;
      loss.temperature = *next;
      const std::vector<LossTrial> tried = try_side_by_side(steps, std::span(&loss, 1));
      if (tried.empty()) return false;
      note(choice, tried.front());
    }
    return true;
  }

  std::size_t most_side_by_side() const {
    const std::uint32_t most = most_columns_side_by_side(
        static_cast<std::size_t>(context_.graph.num_nodes()), context_.graph.device());
    return std::max<std::size_t>(1, most / columns_side_by_side(plan_, backbone_));
  }

  std::vector<LossTrial> try_side_by_side(std::uint64_t steps,
                                          std::span<const LossOptions> losses) {
    // Three softmaxes of dot products count as a training, and so does one of cosines.
    const double part = has_temperature(losses.front()) ? 3 : 1;
    const double work = static_cast<double>(steps * losses.size()) / part;
    return with_length(steps, work, [&](const TrainingContext& context) {
      return try_losses(context, plan_, losses);
    });
  }

  void note(LossChoice& choice, const LossTrial& trial) {
    choice.trials.push_back(trial);
    if (!context_.hooks.log) return;
    context_.hooks.log("loss " + loss_text(trial.loss) + ": validation score " +
                       score_text(trial.score));
  }

  const TrainingContext& context_;
  const SizePlan& plan_;
  const BackboneKind& backbone_;
  std::uint64_t usual_length_;
  double done_ = 0;  // steps, for the progress
};

}  // namespace

std::string score_text(double score) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.5f", score);
  return text;
}

LossChoice choose_loss(const TrainingContext& context, const SizePlan& plan,
                       std::uint64_t usual_length) {
  return LossSearcher(context, plan, usual_length).choose();
}

std::optional<KnownTraining> remembered_training(const StateFile& cache,
                                                 const TrainingHooks& hooks) {
  if (cache.path.empty()) return std::nullopt;
  const auto log = [&](const std::string& text) {
    if (hooks.log) hooks.log(text);
  };
  try {
    const std::optional<Checkpoint> known = cache.read();
    if (!known) return std::nullopt;
    log("loss taken from " + cache.path.string());
    const auto number = [&](const char* name) {
      return static_cast<std::uint64_t>(known->number(name));
    };
    return KnownTraining{{load_loss(*known), number("length")}, number("best length")};
  } catch (const Error& error) {
    log(std::string("the cache was not used: ") + error.what());
    return std::nullopt;
  }
}

void remember_training(const KnownTraining& chosen, const StateFile& cache,
                       const TrainingHooks& hooks) {
  if (cache.path.empty()) return;
  try {
    std::filesystem::create_directories(cache.path.parent_path());
    Checkpoint found;
    save_loss(found, chosen.training.loss);
    found.numbers["length"] = static_cast<double>(chosen.training.length);
    found.numbers["best length"] = static_cast<double>(chosen.best_length);
    cache.write(std::move(found));
  } catch (const std::exception& error) {
    if (hooks.log) hooks.log(std::string("the cache was not written: ") + error.what());
  }
}

void save_loss(Checkpoint& checkpoint, const LossOptions& loss) {
  checkpoint.numbers["loss kind"] = static_cast<double>(loss.kind);
  checkpoint.numbers["loss temperature"] = loss.temperature;
  checkpoint.numbers["loss rate"] = loss.rate;
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
          known("loss score", 2) ? ScoreKind::kCosine : ScoreKind::kDot,
          checkpoint.numbers.contains("loss rate") ? checkpoint.number("loss rate") : 1};
}

}  // namespace bet
