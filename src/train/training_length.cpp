#include "train/training_length.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>

#include "train/parameter_state.h"

namespace bet {
namespace {

// Lengths in the order in which they are tried, as parts of the schedule's: the whole, two that
// show whether less may be better, and, for plans where it may, the others.
constexpr std::array<std::uint64_t, 6> kParts = {1, 8, 32, 2, 4, 16};
constexpr std::size_t kForAll = 3;

// A shorter schedule must be better by this much: less is noise, and the final training, on more
// data, gains from more steps.
constexpr double kClearly = 0.01;

class LengthSearch {
 public:
  LengthSearch(const LengthTrials& trials, const Schedule& schedule, const TrainingHooks& hooks)
      : trials_(trials),
        schedule_(schedule),
        hooks_(hooks),
        best_(trials.num_plans),
        open_(trials.num_plans) {
    std::iota(open_.begin(), open_.end(), 0);
  }

  std::vector<TrainingResult> run(const Checkpoint* state) {
    if (state != nullptr) restore(*state);
    while (!open_.empty() && !stopped_ && round_ < kParts.size()) {
      if (length() > 0) take(trials_.train(open_, schedule_of_round(), round_hooks(), state));
      state = nullptr;  // the next training begins anew
      if (++round_ == kForAll) close_plans_of_full_length();
    }
    std::vector<TrainingResult> results;
    for (std::optional<TrainingResult>& best : best_) {
      best->steps = steps_;
      best->stopped = stopped_;
      results.push_back(std::move(*best));
    }
    return results;
  }

 private:
  std::uint64_t length() const { return schedule_.max_steps / kParts[round_]; }

  Schedule schedule_of_round() const {
    Schedule schedule = schedule_.of_length(length());
    if (round_ > 0) schedule.measure_steps = length();  // only the end counts
    return schedule;
  }

  void take(std::vector<TrainingResult> trained) {
    steps_ += trained[0].steps;
    stopped_ = trained[0].stopped;
    for (std::size_t i = 0; i < trained.size(); ++i) {
      std::optional<TrainingResult>& best = best_[open_[i]];
      if (!best) {
        best = std::move(trained[i]);
        continue;
      }
      // A shorter training that was stopped has no end to compare.
      const double margin = is_full_length(*best) ? 1 + kClearly : 1;
      if (stopped_ || trained[i].validation.score() <= margin * best->validation.score()) continue;
      trained[i].overfits = best->overfits;
      best = std::move(trained[i]);
    }
  }

  bool is_full_length(const TrainingResult& result) const {
    return result.best_length == schedule_.max_steps;
  }

  void close_plans_of_full_length() {
    std::erase_if(open_, [&](std::size_t plan) {
      return is_full_length(*best_[plan]) && !best_[plan]->overfits;
    });
    if (hooks_.log && !open_.empty()) {
      hooks_.log("shorter schedules may be better for " + std::to_string(open_.size()) + " of " +
                 std::to_string(best_.size()) + " plans: more of them are tried");
    }
  }

  TrainingHooks round_hooks() {
    TrainingHooks hooks = hooks_;
    if (hooks_.save) {
      hooks.save = [this](const Checkpoint& checkpoint) {
        Checkpoint whole = checkpoint;
        save(whole);
        hooks_.save(whole);
      };
    }
    if (hooks_.progress) {
      hooks.progress = [this](Progress progress) {
        progress.done += static_cast<double>(steps_);
        progress.total = static_cast<double>(expected_steps());
        hooks_.progress(progress);
      };
    }
    return hooks;
  }

  // The total of all rounds; more rounds may be added after the first kForAll.
  std::uint64_t expected_steps() const {
    std::uint64_t total = 0;
    for (std::size_t round = 0; round < (round_ < kForAll ? kForAll : kParts.size()); ++round) {
      total += schedule_.max_steps / kParts[round];
    }
    return total;
  }

  static std::string name_of(std::size_t plan) { return "length " + std::to_string(plan); }

  void save(Checkpoint& checkpoint) const {
    checkpoint.numbers["length round"] = static_cast<double>(round_);
    checkpoint.numbers["length steps"] = static_cast<double>(steps_);
    for (const std::size_t plan : open_) checkpoint.numbers[name_of(plan) + " open"] = 1;
    for (std::size_t plan = 0; plan < best_.size(); ++plan) {
      if (!best_[plan]) continue;
      const std::string name = name_of(plan);
      const TrainingResult& best = *best_[plan];
      save_parameters(checkpoint, name, best.table);
      checkpoint.numbers[name + " best"] = static_cast<double>(best.best_length);
      checkpoint.numbers[name + " overfits"] = best.overfits ? 1 : 0;
      save_metrics(checkpoint, name, best.validation);
      save_curve(checkpoint, name, best.history);
    }
  }

  void restore(const Checkpoint& checkpoint) {
    round_ = static_cast<std::size_t>(checkpoint.number("length round"));
    steps_ = static_cast<std::uint64_t>(checkpoint.number("length steps"));
    std::erase_if(open_, [&](std::size_t plan) {
      return !checkpoint.numbers.contains(name_of(plan) + " open");
    });
    for (std::size_t plan = 0; plan < best_.size(); ++plan) {
      const std::string name = name_of(plan);
      if (!has_parameters(checkpoint, name)) continue;
      TrainingResult& best = best_[plan].emplace();
      best.table = trials_.table_of(plan);
      load_parameters(checkpoint, name, best.table);
      best.best_length = static_cast<std::uint64_t>(checkpoint.number(name + " best"));
      best.overfits = checkpoint.number(name + " overfits") != 0;
      best.validation = read_metrics(checkpoint, name);
      best.history = read_curve(checkpoint, name);
    }
  }

  const LengthTrials& trials_;
  const Schedule& schedule_;
  const TrainingHooks& hooks_;
  std::size_t round_ = 0;                            // of kParts: the training in progress
  std::uint64_t steps_ = 0;                          // of the trainings before it
  std::vector<std::optional<TrainingResult>> best_;  // by plan, of those trainings
  std::vector<std::size_t> open_;                    // plans of the training in progress
  bool stopped_ = false;
};

}  // namespace

std::vector<TrainingResult> train_with_best_length(const LengthTrials& trials,
                                                   const Schedule& schedule,
                                                   const TrainingHooks& hooks,
                                                   const Checkpoint* state) {
  return LengthSearch(trials, schedule, hooks).run(state);
}

}  // namespace bet
