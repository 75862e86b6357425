#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stopwatch.h"
#include "model/executor.h"
#include "model/tensor_memory.h"
#include "model/threads.h"
#include "plan/rule_plans.h"
#include "run/build_commit.h"
#include "run/fit_options.h"
#include "run/run_data.h"
#include "run/spending.h"
#include "search/method.h"
#include "search/probe.h"
#include "search/rung.h"

// bet_rank_plans DATA BUDGET BACKBONE bpr|auto PLANS SEED DEVICE: how well short trainings rank
// plans, and how well the paper's probes do (docs/studies/rungs.md). Measures PLANS plans, the
// rules and others drawn from the whole space, in each rung of the search, by the whole training on
// the same and on another third of validation, and by a probe. `auto` compares by the loss with
// which a search with --loss auto begins. Writes one JSON line; all lists in it have the order of
// "plans".

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  FitOptions options;
  std::size_t num_plans = 0;
};

Arguments parse(char** argv) {
  Arguments arguments;
  FitOptions& options = arguments.options;
  options.data.path = argv[1];
  options.budget = parse_budget(argv[2]);
  options.backbone = argv[3];
  const std::string loss = argv[4];
  BET_CHECK(loss == "bpr" || loss == "auto", "the loss is bpr or auto, not ", loss);
  options.loss = loss == "bpr" ? LossSetting::kBpr : LossSetting::kAuto;
  arguments.num_plans = std::stoul(argv[5]);
  options.seed = std::stoull(argv[6]);
  options.device = argv[7];
  options = with_defaults(options);
  return arguments;
}

std::vector<SampledPlan> plans_to_rank(const PlanSampler& sampler, std::size_t count,
                                       std::uint64_t seed) {
  std::vector<SampledPlan> plans = rule_plans(sampler);
  for (std::uint64_t index = 0; plans.size() < count; ++index) {
    plans.push_back(sampler.draw_any(seed, index));
  }
  plans.erase(plans.begin() + static_cast<std::ptrdiff_t>(count), plans.end());
  return plans;
}

std::string text_of(const PlanOrigin& origin) {
  char text[160];
  std::snprintf(text, sizeof(text), "users %.2f, %s of %.2f / %s of %.2f", origin.user_share,
                std::string(family_name(origin.user_family)).c_str(), origin.user_kept,
                std::string(family_name(origin.item_family)).c_str(), origin.item_kept);
  return text;
}

Json rounded(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(std::round(value * 1e6) / 1e6);
  return list;
}

class PlanRanking {
 public:
  explicit PlanRanking(const Arguments& arguments)
      : options_(arguments.options),
        data_(load_run_data(options_.data)),
        retraining_(retraining_options(options_)),
        graph_(make_graph(data_.split, TrainingPart::kTrain).to(find_device(options_.device))),
        trainer_({data_.split, graph_, retraining_.model, retraining_.schedule, hooks_},
                 retraining_.final_part, options_.loss == LossSetting::kAuto) {
    const Frequencies frequencies = train_frequencies(data_.split);
    const PlanSampler sampler(table_shape(options_, data_.dataset),
                              resolve_spending(options_, data_.dataset, data_.split).limits.front(),
                              frequencies.users, frequencies.items);
    plans_ = plans_to_rank(sampler, arguments.num_plans, options_.seed);
  }

  Json measure() {
    find_length();
    Json line = {{"data", data_.about.name},
                 {"backbone", options_.backbone},
                 {"budget", options_.budget->text},
                 {"loss", options_.loss == LossSetting::kAuto ? "auto" : "bpr"},
                 {"seed", options_.seed},
                 {"length", length_}};
    const BackboneKind& backbone = trainer_.backbone();
    const std::uint64_t first = fewest_ranking_steps(backbone, length_);
    line["first_steps"] = first;
    for (const auto& [name, steps, fold] : {std::tuple{"first", first, 0U},
                                            {"middle", std::max(length_ / 4, first), 0U},
                                            {"last", std::max(length_ / 2, first), 0U},
                                            {"whole", length_, 0U},
                                            {"other_third", length_, 1U}}) {
      line[name] = timed(name, [&] { return trained(steps, fold); });
    }
    line["probe"] = timed("probe", [&] { return probed(); });
    for (const SampledPlan& plan : plans_) line["plans"].push_back(text_of(plan.origin));
    line["commit"] = build_commit();
    return line;
  }

 private:
  // As the search finds it: of equal sizes or, where data are few, of the best of three plans.
  void find_length() {
    LengthByBpr best = trainer_.length(plans_.front().plan).value();
    few_data_ = best.is_short;
    if (few_data_) {
      const auto share = [](const SampledPlan& plan) { return plan.origin.user_share; };
      const auto [least, most] = std::ranges::minmax_element(plans_, {}, share);
      for (const auto& plan : {least, most}) {
        const LengthByBpr other = trainer_.length(plan->plan).value();
        if (other.score > best.score) best = other;
      }
    }
    length_ = best.is_short ? best.length : trainer_.whole_length();
  }

  std::vector<double> trained(std::uint64_t steps, std::uint32_t fold) {
    std::vector<PlanAndLoss> trained;
    for (const SampledPlan& one : plans_) {
      const std::size_t loss = trainer_.first_loss(one.plan, few_data_);
      trained.push_back({&one.plan, trainer_.losses(one.plan, length_)[loss], fold});
    }
    std::vector<double> scores;
    for (const std::size_t end : trainer_.groups(trained, 1)) {
      const std::vector<double> group = trainer_.scores(
          std::span(trained).subspan(scores.size(), end - scores.size()), steps, length_);
      scores.insert(scores.end(), group.begin(), group.end());
    }
    return scores;
  }

  // From a full-size model, as --method bet-paper does it.
  std::vector<double> probed() const {
    const RetrainingOptions training = retraining_options(search_options(options_));
    const SizePlan full = full_plan(plans_.front().plan.shape());
    const TrainingResult theta =
        train_to_convergence({data_.split, graph_, training.model, training.schedule, hooks_},
                             std::span(&full, 1), nullptr, Rates::kUsual)[0];
    MethodOptions paper;
    find_method("bet-paper").set_defaults(paper, options_.effort, trainer_.backbone());
    const Schedule finetune =
        finetune_schedule(data_.split.counts().train, paper.finetune_epochs.value());
    const ModelParameters table = theta.table.to(graph_.device());
    const Prober prober({data_.split, graph_, training.model, finetune, hooks_}, table,
                        theta.validation.score());
    std::vector<double> fitness;
    for (const SampledPlan& one : plans_) fitness.push_back(prober.fitness(one.plan, {}).value());
    return fitness;
  }

  template <typename Work>
  Json timed(const char* name, const Work& work) const {
    const Stopwatch watch;
    Json scores = rounded(work());
    std::cerr << data_.about.name << ' ' << options_.backbone << ": " << name << ", "
              << watch.seconds() << " s\n";
    return scores;
  }

  const FitOptions options_;
  const RunData data_;
  const RetrainingOptions retraining_;
  const TrainingHooks hooks_ = {};
  const Graph graph_;
  RungTrainer trainer_;
  std::vector<SampledPlan> plans_;
  std::uint64_t length_ = 0;
  bool few_data_ = false;
};

}  // namespace
}  // namespace bet

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fputs("usage: bet_rank_plans DATA BUDGET BACKBONE bpr|auto PLANS SEED DEVICE\n", stderr);
    return 2;
  }
  try {
    bet::use_huge_page_tensors();
    bet::set_num_threads(0);
    auto line = bet::PlanRanking(bet::parse(argv)).measure();
    std::string command = "bet_rank_plans";
    for (int i = 1; i < argc; ++i) command += std::string(" ") + argv[i];
    line["command"] = command;
    std::cout << line.dump() << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bet_rank_plans: %s\n", error.what());
    return 1;
  }
}
