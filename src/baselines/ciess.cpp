#include "baselines/ciess.h"

#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "base/error.h"
#include "base/stopwatch.h"
#include "baselines/size_agent.h"
#include "model/backbone.h"
#include "model/executor.h"
#include "plan/plan_sampler.h"
#include "search/cache_lock.h"
#include "search/method.h"
#include "train/evaluator.h"
#include "train/training_loop.h"

namespace bet {

std::vector<std::size_t> visited_within(std::span<const VisitedSizes> visited,
                                        std::uint64_t total) {
  constexpr std::size_t kMost = 3;
  std::vector<std::size_t> within;
  for (std::size_t i = 0; i < visited.size(); ++i) {
    if (visited[i].total <= total && 2 * visited[i].total > total) within.push_back(i);
  }
  std::stable_sort(within.begin(), within.end(), [&](std::size_t a, std::size_t b) {
    return visited[a].score > visited[b].score;
  });
  within.resize(std::min(within.size(), kMost));
  return within;
}

std::size_t visited_nearest(std::span<const VisitedSizes> visited, std::uint64_t total) {
  const auto nearer = [&](const VisitedSizes& a, const VisitedSizes& b) {
    const bool a_above = a.total > total;
    const bool b_above = b.total > total;
    if (a_above != b_above) return a_above;
    if (a.total != b.total) return (a.total < b.total) == a_above;
    return a.score > b.score;
  };
  return static_cast<std::size_t>(std::min_element(visited.begin(), visited.end(), nearer) -
                                  visited.begin());
}

namespace {

std::uint64_t total_of(const SizePlan& plan) { return plan.num_params() / plan.shape().tables; }

std::uint32_t lowest_size(const TableShape& shape) {
  return std::max<std::uint32_t>(shape.min_dim, 1);
}

}  // namespace

SizePlan scaled_plan(const SizePlan& plan, std::uint64_t total) {
  TableShape shape = plan.shape();
  if (total >= shape.total_size(1)) shape.min_dim = lowest_size(shape);
  std::vector<std::uint32_t> sizes(plan.user_sizes().begin(), plan.user_sizes().end());
  sizes.insert(sizes.end(), plan.item_sizes().begin(), plan.item_sizes().end());
  const std::vector<std::uint32_t> order = frequency_order(sizes);
  std::vector<double> descending;
  descending.reserve(order.size());
  for (const std::uint32_t row : order) descending.push_back(sizes[row]);
  return shared_out_plan(descending, total, shape, order);
}

namespace {

constexpr std::uint64_t kTrainings = 30 * SizeAgent::kEpisode;
// Lower weights, as in the authors' code, hardly bring the sizes below a fifth of the table on the
// demo data; a tenth and less takes about 1.
constexpr double kMemoryWeight = 1;

// The short training from scratch, as in the authors' code; a quarter of a linear schedule has at
// least as many samples.
Schedule short_schedule(const RetrainingOptions& fit) {
  Schedule schedule = fit.schedule;
  if (schedule.linear) {
    schedule.max_steps = std::max<std::uint64_t>(schedule.max_steps / 4, 20);
    return schedule;
  }
  const CiessTraining& own = find_backbone(fit.model.backbone).ciess;
  schedule.decay = 0.9;
  schedule.decay_steps = own.decay_steps;
  schedule.lowest_rate = own.lowest_rate.value_or(schedule.lowest_rate);
  schedule.max_steps = std::min(schedule.max_steps, own.max_steps);
  return schedule;
}

// The quality of a model on validation.
struct Qualities {
  double score = 0;  // mean over users
  at::Tensor users;  // float by row, on the model's device
  at::Tensor items;
};

// Mean qualities by row; rows without any get the mean of the others.
class QualityMeans {
 public:
  explicit QualityMeans(std::size_t rows) : sums_(rows), counts_(rows) {}

  void add(std::size_t row, double quality) {
    sums_[row] += quality;
    ++counts_[row];
  }
  at::Tensor means(const at::Device& device) const {
    std::vector<float> means(sums_.size());
    double sum = 0;
    std::size_t num_measured = 0;
    for (std::size_t row = 0; row < sums_.size(); ++row) {
      if (counts_[row] == 0) continue;
      sum += sums_[row] / counts_[row];
      ++num_measured;
    }
    for (std::size_t row = 0; row < sums_.size(); ++row) {
      means[row] = static_cast<float>(counts_[row] > 0   ? sums_[row] / counts_[row]
                                      : num_measured > 0 ? sum / static_cast<double>(num_measured)
                                                         : 0.0);
    }
    return at::tensor(means).to(device);
  }

 private:
  std::vector<double> sums_;
  std::vector<std::uint32_t> counts_;
};

// The agents' environment: trains a model of the sizes they chose, from the same initial values and
// with the same batches as every other, and measures it on validation.
class Environment {
 public:
  explicit Environment(const MethodInput& input)
      : input_(input),
        evaluator_(input.split, HeldOut::kValidation, input.graph),
        backbone_(make_backbone(input.training.model, input.graph)),
        schedule_(short_schedule(input.training)) {
    const SizePlan full = full_plan(input.shape);
    first_ =
        backbone_->initial(std::span(&full, 1), input.training.model.seed).to(input.graph.device());
  }

  std::uint64_t steps_of_training() const { return schedule_.max_steps; }

  // A user's quality is the score on its held-out items, an item's the mean over users who have it
  // in training.
  Qualities measure(const Ranking& ranking) const {
    const std::vector<double> scores = evaluator_.user_scores(ranking.vectors, ranking.models[0]);
    QualityMeans users(input_.split.num_users());
    QualityMeans items(input_.split.num_items());
    double sum = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const UserId user = evaluator_.users()[i];
      users.add(user, scores[i]);
      for (const ItemId item : input_.split.train(user)) items.add(item, scores[i]);
      sum += scores[i];
    }
    const at::Device device = input_.graph.device();
    return {sum / static_cast<double>(std::max<std::size_t>(scores.size(), 1)), users.means(device),
            items.means(device)};
  }

  // The qualities of the full-size model, with which others are compared.
  Qualities peaks(const Pretrained& full) const {
    constexpr double kLeast = 1e-5;
    Qualities peaks = measure(backbone_->ranking(full.table.to(input_.graph.device())));
    peaks.users.clamp_min_(kLeast);
    peaks.items.clamp_min_(kLeast);
    return peaks;
  }

  // Nothing if hooks.stop ended the training.
  std::optional<Qualities> train(const SizePlan& plan, const TrainingHooks& hooks) const {
    // free_bytes() makes a GPU release the memory of the previous models' recorded steps: hundreds
    // of them would fill it.
    executor_for(input_.graph.device()).free_bytes();
    ModelInTraining model(input_.graph, masked_copy(first_, std::span(&plan, 1)),
                          input_.training.model, schedule_);
    if (!run_steps(model, schedule_.max_steps, hooks)) return std::nullopt;
    return measure(model.ranking());
  }

 private:
  const MethodInput& input_;
  Evaluator evaluator_;
  std::unique_ptr<Backbone> backbone_;
  Schedule schedule_;
  ModelParameters first_;
};

class Search {
 public:
  explicit Search(const MethodInput& input)
      : Search(input, Environment(input), train_frequencies(input.split)) {}

  Proposal run() {
    restore();
    if (!is_over()) {
      // Whoever searches for another budget now is waited for.
      std::optional<FileLock> lock;
      if (!shared_.path.empty()) lock = lock_cached(shared_, "makes the same search", input_.hooks);
      take_shared();
      train();
    }
    return proposal();
  }

 private:
  Search(const MethodInput& input, Environment environment, const Frequencies& frequencies)
      : input_(input),
        environment_(std::move(environment)),
        peaks_(environment_.peaks(input.pretrained())),
        asked_(input.options.iterations.value_or(kTrainings)),
        total_(input.params.value() / input.shape.tables),
        shared_(shared_state()),
        users_(agent_options("users"), frequencies.users, peaks_.users),
        items_(agent_options("items"), frequencies.items, peaks_.items) {}

  SizeAgent::Options agent_options(const char* name) const {
    return {.name = name,
            .lowest = lowest_size(input_.shape),
            .highest = input_.shape.max_dim,
            .memory_weight = memory_weight(),
            .max_trainings = asked_,
            .seed = input_.training.model.seed};
  }

  // Nothing of the search depends on the budget: one serves all of them.
  StateFile shared_state() const {
    if (input_.cache.empty()) return {};
    return cached_state(input_.cache, "ciess",
                        str_cat("1\n", input_.training_identity, "\ntrainings = ", asked_,
                                "\nmemory weight = ", memory_weight(),
                                "\nleast size = ", lowest_size(input_.shape)));
  }

  double memory_weight() const { return input_.options.memory_weight.value_or(kMemoryWeight); }

  bool is_over() const { return stopped_ || visited_.size() >= asked_; }

  void train() {
    Stopwatch since_save;
    while (!is_over()) {
      stopped_ = !train_next();
      if (!is_over() && since_save.seconds() < input_.hooks.save_seconds) continue;
      save();
      since_save.restart();
      if (!stopped_ && is_over()) share();
    }
  }

  // False if hooks.stop ended it. The first training cannot be stopped: without it there is nothing
  // to propose.
  bool train_next() {
    const SizePlan plan(input_.shape, users_.choose(), items_.choose());
    TrainingHooks hooks;
    hooks.leave = input_.hooks.leave;
    if (!visited_.empty()) hooks.stop = input_.hooks.stop;
    const std::optional<Qualities> qualities = environment_.train(plan, hooks);
    if (!qualities) return false;
    users_.learn(plan.user_sizes(), qualities->users);
    items_.learn(plan.item_sizes(), qualities->items);
    visited_.push_back({total_of(plan), qualities->score});
    report(plan);
    return true;
  }

  void report(const SizePlan& plan) const {
    const auto done = static_cast<double>(visited_.size());
    if (input_.hooks.progress) {
      const std::vector<std::size_t> within = visited_within(visited_, total_);
      char text[48] = "none within the budget yet";
      if (!within.empty()) {
        std::snprintf(text, sizeof(text), "best validation score %.4f", visited_[within[0]].score);
      }
      input_.hooks.progress({"ciess", done, static_cast<double>(asked_), text});
    }
    const auto mean = [](std::span<const std::uint16_t> sizes) {
      return std::accumulate(sizes.begin(), sizes.end(), 0.0) /
             static_cast<double>(std::max<std::size_t>(sizes.size(), 1));
    };
    char text[128];
    std::snprintf(text, sizeof(text),
                  "ciess: training %zu  kept %.4f  users %.1f  items %.1f  score %.5f",
                  visited_.size(), share(visited_.back()), mean(plan.user_sizes()),
                  mean(plan.item_sizes()), visited_.back().score);
    log(text);
  }

  double share(const VisitedSizes& visited) const {
    return static_cast<double>(visited.total) /
           static_cast<double>(input_.shape.total_size(input_.shape.max_dim));
  }

  SizePlan visited_plan(std::size_t training) const {
    return {input_.shape, users_.sizes_of(training), items_.sizes_of(training)};
  }

  Proposal proposal() const {
    Proposal proposal;
    proposal.trainings = visited_.size();
    proposal.steps = visited_.size() * environment_.steps_of_training();
    proposal.stopped = stopped_;
    if (visited_.size() < kTrainings) {
      proposal.note = str_cat("reduced: ", visited_.size(), " of ", kTrainings, " trainings");
    }
    const auto add = [&](const SizePlan& plan, std::size_t training) {
      // Where all rows are at one end of the sizes, trainings have the same plan.
      const auto& plans = proposal.plans;
      if (std::find(plans.begin(), plans.end(), plan) != plans.end()) return;
      proposal.plans.push_back(plan);
      proposal.labels.push_back(str_cat("training ", training + 1));
    };
    for (const std::size_t training : visited_within(visited_, total_)) {
      add(scaled_plan(visited_plan(training), total_), training);
    }
    if (!proposal.plans.empty()) return proposal;
    const std::size_t nearest = visited_nearest(visited_, total_);
    add(scaled_plan(visited_plan(nearest), total_), nearest);
    char text[128];
    std::snprintf(text, sizeof(text),
                  "no sizes for this budget were visited: those of training %zu, %.2f %%, were "
                  "scaled to it",
                  nearest + 1, 100 * share(visited_[nearest]));
    proposal.note += (proposal.note.empty() ? "" : "; ") + std::string(text);
    return proposal;
  }

  Checkpoint state() const {
    Checkpoint state;
    state.numbers["stopped"] = stopped_ ? 1 : 0;
    users_.save(state);
    items_.save(state);
    for (std::size_t i = 0; i < visited_.size(); ++i) {
      state.numbers["score " + std::to_string(i)] = visited_[i].score;
    }
    return state;
  }

  void save() const { input_.state.write(state()); }

  void restore() {
    if (const std::optional<Checkpoint> state = input_.state.read()) restore(*state);
  }

  void restore(const Checkpoint& state) {
    // A search that the user stopped is over: the retraining of its plans may have begun.
    stopped_ = state.number("stopped") != 0;
    users_.restore(state);
    items_.restore(state);
    visited_.clear();
    for (std::size_t i = 0; i < users_.num_trainings(); ++i) {
      visited_.push_back({total_of(visited_plan(i)), state.number("score " + std::to_string(i))});
    }
  }

  // The whole search of a run with another budget, if there was one.
  void take_shared() {
    if (shared_.path.empty()) return;
    try {
      const std::optional<Checkpoint> state = shared_.read();
      if (!state) return;
      restore(*state);
      save();
      log("ciess: the search of another run, from " + shared_.path.string());
    } catch (const Error& error) {
      log(std::string("the cache was not used: ") + error.what());
    }
  }

  void share() const {
    if (shared_.path.empty()) return;
    try {
      shared_.write(state());
    } catch (const std::exception& error) {
      log(std::string("the cache was not written: ") + error.what());
    }
  }

  void log(const std::string& text) const {
    if (input_.hooks.log) input_.hooks.log(text);
  }

  const MethodInput& input_;
  Environment environment_;
  Qualities peaks_;
  std::uint64_t asked_;
  std::uint64_t total_;  // the sum of sizes that the budget allows
  StateFile shared_;     // of whole searches, for all budgets; no path: nowhere
  SizeAgent users_;
  SizeAgent items_;
  std::vector<VisitedSizes> visited_;  // by training
  bool stopped_ = false;
};

Proposal propose_ciess(const MethodInput& input) { return Search(input).run(); }

std::vector<Option<MethodOptions>> options_of_ciess() {
  return {make_option<MethodOptions>(
              {"memory-weight", "Search", Affects::kResult,
               "lambda, the weight of the sizes in the reward"},
              [](auto& o) -> auto& { return o.memory_weight; })
              .within(0, 1'000),
          make_option<MethodOptions>(
              {"iterations", "Search", Affects::kResult, "models that are trained from scratch"},
              [](auto& o) -> auto& { return o.iterations; })
              .within(1, 1'000'000)};
}

void set_defaults(MethodOptions& options, Effort effort, const BackboneKind& /*backbone*/) {
  constexpr std::uint32_t kQuickTrainings = 33;
  if (effort == Effort::kQuick) options.iterations = options.iterations.value_or(kQuickTrainings);
}

}  // namespace

// CIESS (Qu et al., SIGIR'23). The method's own: two TD3 agents choose a size for every user and
// item, a fresh model is trained with them, and what it is worth for each row, less the size's
// weight in memory, is the reward; 30 episodes of 11 trainings. Vectors are stored with their
// exploration noise, as in the authors' code. It has no constraint: those that happen to lie
// between half of the budget and the budget count for it, the three of best score are retrained.
// Our adaptation: their sizes are scaled in proportion until they fill the budget; trainings of a
// quarter of a linear schedule; every model begins with the same values and sees the same batches;
// rows that no held-out item speaks of have the mean quality of the others on their side; both
// agents learn from the last 100 trainings, which is the authors' replay; where no vector counts
// for the budget, the nearest one is scaled to it and the note says so. Sizes drive both embeddings
// of NCF; dense weights are not counted.
extern const MethodKind kCiess;
const MethodKind kCiess = {.name = "ciess",
                           .about = "CIESS, sizes by reinforcement learning",
                           .pretrains = true,
                           .trains = true,
                           .any_order = true,
                           .propose = propose_ciess,
                           .options = options_of_ciess,
                           .set_defaults = set_defaults};

}  // namespace bet
