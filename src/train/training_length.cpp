#include "train/training_length.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <string>

#include "base/error.h"
#include "train/parameter_state.h"

namespace bet {
namespace {

// A training, by the schedule's length over `part` and its rate over `slower`.
struct Trial {
  std::uint64_t part = 1;
  std::uint64_t slower = 1;
};

// Parts in the order in which they are tried at the schedule's own rate: the whole, two that show
// whether less may be better, and, for plans where it may, the others.
constexpr std::array<std::uint64_t, 6> kParts = {1, 8, 32, 2, 4, 16};
constexpr std::size_t kForAll = 3;

// The lowest rate, and how many trainings come before those at the far rate.
constexpr std::uint64_t kSlowest = 64;
constexpr std::size_t kFirstFar = kParts.size() * (1 + std::countr_zero(kSlowest));

// All trainings there may be, in their order: lengths at the schedule's own rate; with lower rates,
// all lengths at each of these, for plans that have few data; then the whole length at 1/far_rate
// and, where that is best, at still lower rates, or at those between.
std::vector<Trial> all_trials(const LengthTrials& wanted) {
  std::vector<Trial> trials;
  const std::uint64_t slowest = wanted.lower_rates ? kSlowest : 1;
  for (std::uint64_t slower = 1; slower <= slowest; slower *= 2) {
    for (const std::uint64_t part : kParts) trials.push_back({part, slower});
  }
  const std::uint64_t far = wanted.far_rate;
  if (!wanted.lower_rates || far == 1) return trials;
  for (std::uint64_t slower = far; slower <= kSlowest; slower *= 2) trials.push_back({1, slower});
  for (std::uint64_t slower = far / 2; slower > 1; slower /= 2) trials.push_back({1, slower});
  return trials;
}

// By which a training must be better than those before it where less is noise: a length, a rate
// beside the far one, and of models that vary every lower rate.
constexpr double kClearly = 0.01;

class LengthSearch {
 public:
  LengthSearch(const LengthTrials& trials, const Schedule& schedule, const TrainingHooks& hooks)
      : trials_(trials),
        schedule_(schedule),
        hooks_(hooks),
        rounds_(all_trials(trials)),
        best_(trials.num_plans),
        best_rounds_(trials.num_plans, 0),
        usual_parts_(trials.num_plans, 1),
        parts_before_(trials.num_plans, 0),
        open_(trials.num_plans) {
    std::iota(open_.begin(), open_.end(), 0);
  }

  std::vector<TrainingResult> run(const Checkpoint* state) {
    if (state != nullptr) restore(*state);
    while (!stopped_ && round_ < rounds_.size()) {
      if (!open_.empty() && length() > 0) {
        take(trials_.train(open_, schedule_of_round(), round_hooks(), state));
      }
      state = nullptr;  // the next training begins anew
      ++round_;
      if (round_ == kForAll) close_plans_of_full_length();
      if (round_ >= kParts.size()) open_plans_of_lower_rate();
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
  const Trial& trial() const { return rounds_[round_]; }
  const Trial& best_trial(std::size_t plan) const { return rounds_[best_rounds_[plan]]; }

  std::uint64_t length() const { return schedule_.max_steps / trial().part; }

  Schedule schedule_of_round() const {
    Schedule schedule = schedule_.of_length(length());
    schedule.learning_rate *= trials_.usual_rate / static_cast<double>(trial().slower);
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
        best->best_rate = trials_.usual_rate;
        continue;
      }
      // A training after the first that was stopped has no end to compare.
      const std::size_t plan = open_[i];
      if (stopped_ || !is_better(plan, trained[i].validation.score())) continue;
      trained[i].overfits = best->overfits;
      best = std::move(trained[i]);
      best_rounds_[plan] = round_;
      if (trial().slower == 1) usual_parts_[plan] = trial().part;
      note_trial(plan);
    }
  }

  // Whether a training of this round, with this score, is taken instead of the best before it.
  bool is_better(std::size_t plan, double score) const {
    const double best = best_[plan]->validation.score();
    const bool is_length = trial().slower == 1;
    // Of lengths that are about as good the shorter one overfits less.
    if (is_length && has_few_data(plan) && trial().part > usual_parts_[plan]) {
      return (1 + kClearly) * score > best;
    }
    const bool is_halving = !is_length && round_ < kFirstFar;
    const bool must_be_clear = is_halving ? trials_.varies : round_ != kFirstFar;
    return score > (must_be_clear ? 1 + kClearly : 1) * best;
  }

  bool has_few_data(std::size_t plan) const { return usual_parts_[plan] > 1; }

  void note_trial(std::size_t plan) {
    best_[plan]->best_rate = trials_.usual_rate / static_cast<double>(best_trial(plan).slower);
    best_[plan]->few_data = has_few_data(plan);
  }

  void close_plans_of_full_length() {
    std::erase_if(open_,
                  [&](std::size_t plan) { return !has_few_data(plan) && !best_[plan]->overfits; });
    if (hooks_.log && !open_.empty()) {
      hooks_.log("shorter schedules may be better for " + std::to_string(open_.size()) + " of " +
                 std::to_string(best_.size()) + " plans: more of them are tried");
    }
  }

  // Whether a plan that has few data, and whose best before this rate was of the length over
  // `before` at twice of it, is tried now: half the rate needs about twice the length.
  bool continues(std::uint64_t before) const {
    const std::uint64_t part = trial().part;
    return before > 0 && (part == before || 2 * part == before || part == 2 * before);
  }

  // Whether the whole length is tried for a plan at this round's rate.
  bool is_far(std::size_t plan) const {
    const std::uint64_t best = best_trial(plan).slower;
    const std::uint64_t slower = trial().slower;
    if (slower == trials_.far_rate) return !has_few_data(plan) || 2 * best < slower;
    const std::uint64_t neighbour = slower > trials_.far_rate ? slower / 2 : slower * 2;
    return best_rounds_[plan] >= kFirstFar && best == neighbour;
  }

  void open_plans_of_lower_rate() {
    open_.clear();
    if (round_ == rounds_.size()) return;
    for (std::size_t plan = 0; plan < best_.size(); ++plan) {
      std::uint64_t& before = parts_before_[plan];
      const Trial& best = best_trial(plan);
      if (round_ % kParts.size() == 0 && round_ < kFirstFar) {
        const bool halves = has_few_data(plan) && 2 * best.slower == trial().slower;
        before = halves ? best.part : 0;
      }
      if (round_ < kFirstFar ? continues(before) : is_far(plan)) open_.push_back(plan);
    }
    if (hooks_.log && !open_.empty()) {
      hooks_.log("1/" + std::to_string(trial().slower) + " of the rate is tried for " +
                 std::to_string(open_.size()) + " of " + std::to_string(best_.size()) +
                 " plans, in " + std::to_string(length()) + " steps");
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

  // The total of all rounds, as far as it is known: more lengths may be added after the first
  // kForAll, and lower rates.
  std::uint64_t expected_steps() const {
    std::uint64_t total = rounds_.size() > kFirstFar ? schedule_.max_steps : 0;
    for (std::size_t round = 0; round < (round_ < kForAll ? kForAll : kParts.size()); ++round) {
      total += schedule_.max_steps / kParts[round];
    }
    return round_ < kParts.size() ? total : std::max(total, steps_ + length());
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
      checkpoint.numbers[name + " usual part"] = static_cast<double>(usual_parts_[plan]);
      checkpoint.numbers[name + " part before"] = static_cast<double>(parts_before_[plan]);
      checkpoint.numbers[name + " round"] = static_cast<double>(best_rounds_[plan]);
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
      restore_trial(checkpoint, plan);
      best.overfits = checkpoint.number(name + " overfits") != 0;
      best.validation = read_metrics(checkpoint, name);
      best.history = read_curve(checkpoint, name);
    }
  }

  void restore_trial(const Checkpoint& checkpoint, std::size_t plan) {
    const auto number = [&](const char* what) {
      return static_cast<std::uint64_t>(checkpoint.number(name_of(plan) + what));
    };
    if (checkpoint.numbers.contains(name_of(plan) + " round")) {
      usual_parts_[plan] = number(" usual part");
      parts_before_[plan] = number(" part before");
      best_rounds_[plan] = number(" round");
      BET_CHECK(best_rounds_[plan] < rounds_.size(), "a state with training ", best_rounds_[plan],
                " of ", rounds_.size());
    } else {  // of an earlier version, which knew lengths alone
      const auto part = std::ranges::find_if(kParts, [&](std::uint64_t of_whole) {
        return schedule_.max_steps / of_whole == best_[plan]->best_length;
      });
      BET_CHECK(part != kParts.end(), "a state with a training of ", best_[plan]->best_length,
                " steps, of ", schedule_.max_steps);
      usual_parts_[plan] = *part;
      best_rounds_[plan] = static_cast<std::size_t>(part - kParts.begin());
    }
    note_trial(plan);
  }

  const LengthTrials& trials_;
  const Schedule& schedule_;
  const TrainingHooks& hooks_;
  std::vector<Trial> rounds_;
  std::size_t round_ = 0;                            // of these: the training in progress
  std::uint64_t steps_ = 0;                          // of the trainings before it
  std::vector<std::optional<TrainingResult>> best_;  // by plan, of those trainings
  std::vector<std::size_t> best_rounds_;             // by plan: in which it was trained
  std::vector<std::uint64_t> usual_parts_;           // by plan: the best at the schedule's own rate
  std::vector<std::uint64_t> parts_before_;  // by plan: the best at twice the rate; 0: not tried
  std::vector<std::size_t> open_;            // plans of the training in progress
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
