#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/resident_memory.h"
#include "cli/commands.h"
#include "cli/fit_options.h"
#include "cli/interrupt.h"
#include "cli/model_export.h"
#include "cli/progress_line.h"
#include "cli/report.h"
#include "cli/run_folder.h"
#include "cli/text.h"
#include "data/byte_stream.h"
#include "model/executor.h"
#include "model/tensor_memory.h"
#include "model/threads.h"
#include "search/bet_search.h"
#include "search/pretrained.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Standard input cannot be read again by `bet resume`: it is copied into the run.
void keep_standard_input(FitCommand& options, const RunFolder& run) {
  if (options.data.path != "-") return;
  const std::filesystem::path copy = run.path() / "stdin";
  std::ofstream out(copy, std::ios::binary);
  out << std::cin.rdbuf();
  out.close();
  BET_CHECK(out.good(), copy.string(), ": cannot write");
  options.data.path = copy.string();
}

// The budget on this table; null without one.
struct AskedBudget {
  Json json;
  ResolvedBudget resolved;
  bool covers_full = true;  // or there is none
};

AskedBudget resolve(const FitCommand& options, const TableShape& shape) {
  if (options.budget.empty()) return {};
  const ResolvedBudget budget =
      resolve_budget(parse_budget(options.budget), shape, *parse_precision(options.precision));
  BET_CHECK(options.method != "full" || budget.covers_full, "--method full does not fit --budget ",
            options.budget, ": it takes ", shape.full_params(), " parameters, ",
            table_bytes(shape.full_params(), shape, *parse_precision(options.precision)), " bytes");
  return {{{"requested", options.budget}, {"params", budget.params}, {"bytes", budget.bytes}},
          budget,
          budget.covers_full};
}

// The plan of a method that needs no search.
SizePlan plan_without_search(const FitCommand& options, const TableShape& shape,
                             const AskedBudget& budget, const Split& split) {
  if (budget.covers_full) return full_plan(shape);
  const std::uint64_t params = budget.resolved.params;
  if (options.method == "mr") return mixed_random_plan(shape, params, options.seed);
  if (options.method == "sided") {
    const Frequencies frequencies = train_frequencies(split);
    return PlanSampler(shape, params, frequencies.users, frequencies.items)
        .sided_plan(options.user_share);
  }
  return equal_plan(shape, params);
}

// What the search leaves for retraining and for the report.
struct Searched {
  std::vector<SizePlan> plans;
  std::vector<const Trial*> trials;  // by plan
  SearchResult search;
  Pretrained full;
  double pretrain_seconds = 0;
  double search_seconds = 0;
};

Json trial_json(const Trial& trial) {
  const PlanOrigin& origin = trial.sampled.origin;
  return {{"iteration", trial.iteration},
          {"strategy", strategy_name(trial.strategy)},
          {"predicted", trial.predicted ? Json(*trial.predicted) : Json(nullptr)},
          {"fitness", trial.fitness},
          {"user_share", origin.user_share},
          {"user_family", family_name(origin.user_family)},
          {"item_family", family_name(origin.item_family)},
          {"user_shape", origin.user_shape},
          {"item_shape", origin.item_shape},
          {"largest_size", trial.sampled.plan.largest_size()},
          {"seconds", trial.seconds}};
}

// Propagated vectors are as wide as the plan's largest size, which is the mean size at least: where
// not even that fits, nothing is begun.
void check_vectors_can_fit(const FitCommand& options, const TableShape& shape,
                           const ResolvedBudget& budget) {
  if (!export_choice(options).materialised || !parse_budget(options.budget).in_bytes()) return;
  const std::uint64_t width = (budget.params + shape.num_rows() - 1) / shape.num_rows();
  const SizePlan equal = equal_plan(shape, width * shape.num_rows());
  const std::uint64_t bytes = exported_table_bytes(equal, export_choice(options));
  BET_CHECK(bytes <= budget.bytes, "the propagated vectors would take at least ", bytes,
            " bytes, more than --budget ", options.budget,
            "; --serving graph stores the table alone");
}

// The promise, checked on a plan that is about to be trained.
void check_promise(const SizePlan& plan, const FitCommand& options, const Json& budget) {
  if (budget.is_null()) return;
  const ExportChoice choice = export_choice(options);
  const std::uint64_t bytes = exported_table_bytes(plan, choice);
  const bool in_bytes = parse_budget(options.budget).in_bytes();
  BET_CHECK(!in_bytes || bytes <= budget["bytes"], "the ",
            choice.materialised ? "propagated vectors" : "table", " would take ", bytes,
            " bytes, more than --budget ", options.budget,
            choice.materialised ? "; --serving graph stores the table alone" : "");
  BET_CHECK(in_bytes || plan.num_params() <= budget["params"], "a plan of ", plan.num_params(),
            " parameters breaks the budget ", budget.dump());
}

void print_summary(const Json& report, const std::filesystem::path& folder) {
  const auto line = [&](const char* part) {
    const Json& metrics = report[part];
    if (metrics.is_null()) return;
    std::printf("%-11s recall@20 %.4f  ndcg@20 %.4f\n", part, metrics["recall@20"].get<double>(),
                metrics["ndcg@20"].get<double>());
  };
  std::printf("%-11s %s parameters, %s bytes", "used",
              with_commas(report["used"]["params"]).c_str(),
              with_commas(report["used"]["bytes"]).c_str());
  if (!report["budget"].is_null()) {
    std::printf(" (budget %s: %s, %s)", report["budget"]["requested"].get<std::string>().c_str(),
                with_commas(report["budget"]["params"]).c_str(),
                with_commas(report["budget"]["bytes"]).c_str());
  }
  std::printf("\n");
  line("validation");
  line("test");
  std::printf("%-11s %s\n", "results", folder.c_str());
}

class FitRun {
 public:
  explicit FitRun(FitCommand options) : options_(std::move(options)) {}

  Json run() {
    if (options_.resume && std::filesystem::exists(RunFolder::open(options_.folder()).report())) {
      std::fprintf(stderr, "%s is complete\n", options_.folder().c_str());
      std::ifstream in(RunFolder::open(options_.folder()).report());
      return Json::parse(in);
    }
    const Clock::time_point start = Clock::now();
    use_huge_page_tensors();
    set_num_threads(options_.threads);
    FitOptions fit = options_.resolve();
    fit.device = find_device(options_.device);
    if (!options_.budget.empty()) parse_budget(options_.budget);  // before anything is written
    if (!options_.resume) RunFolder::check_free(options_.folder(), options_.overwrite);
    // Nothing is left behind by a request that cannot be met; but standard input has to be kept
    // before it is read.
    std::optional<RunFolder> folder_of_run;
    if (options_.resume) folder_of_run = RunFolder::open(options_.folder());
    if (options_.data.path == "-") {
      folder_of_run = RunFolder::create(options_.folder(), options_.overwrite);
      keep_standard_input(options_, *folder_of_run);
    }
    watch_interrupts();
    Dataset dataset = options_.data.load();
    const std::string hash = dataset.hash();
    const TableShape shape = options_.shape_of(dataset);
    Json about_data = {{"name", dataset.name},
                       {"users", dataset.num_users()},
                       {"items", dataset.num_items()},
                       {"interactions", dataset.num_interactions()},
                       {"hash", hash}};
    const Split split = options_.data.split_of(dataset);
    const Split::Counts parts = split.counts();
    about_data["split"] = {{"kind", options_.data.split},
                           {"seed", options_.data.split_seed},
                           {"train", parts.train},
                           {"validation", parts.validation},
                           {"test", parts.test}};
    const AskedBudget budget = resolve(options_, shape);
    if (!options_.budget.empty()) check_vectors_can_fit(options_, shape, budget.resolved);
    const bool searches = options_.method == "bet" && !budget.covers_full;
    const double load_seconds = seconds_since(start);
    if (!folder_of_run) {
      folder_of_run = RunFolder::create(options_.folder(), options_.overwrite);
    }
    RunFolder& run = *folder_of_run;
    if (!options_.resume) run.write_config(options_.to_config());
    run.keep_identity(identity(hash));
    say(run, "data " + about_data.dump());
    if (budget.covers_full && !options_.budget.empty()) {
      say(run, "the budget holds the full table: nothing needs to be cut");
    }

    ProgressLine line;
    TrainingHooks hooks;
    hooks.log = [&](const std::string& text) { run.log(text); };
    hooks.stop = take_interrupt;
    if (!options_.quiet) hooks.progress = [&](const Progress& p) { line.show(p); };
    Searched searched;
    if (searches) {
      searched = search(split, shape, budget.resolved.params, fit, hooks, run, hash);
    } else {
      searched.plans = {plan_without_search(options_, shape, budget, split)};
    }
    for (const SizePlan& plan : searched.plans) check_promise(plan, options_, budget.json);
    const FitResult result = fit_plans(split, searched.plans, fit, hooks, run.checkpoint(),
                                       identity(hash), options_.resume);
    line.end();

    const SizePlan& plan = searched.plans[result.chosen];
    Json report = {{"dataset", about_data},
                   {"backbone", options_.backbone},
                   {"method", options_.method},
                   {"seed", options_.seed},
                   {"budget", budget.json},
                   {"used",
                    {{"params", plan.num_params()},
                     {"bytes", exported_table_bytes(plan, export_choice(options_))},
                     {"file_bytes", nullptr}}},
                   {"validation", metrics_json(result.validation)},
                   {"test", metrics_json(result.test)}};
    if (searches) {
      report["full"] = {{"validation", metrics_json(searched.full.validation)}};
    } else if (budget.covers_full) {
      report["full"] = {{"validation", report["validation"]}};
    }
    report["trials"] = Json::array();
    for (const Trial& trial : searched.search.population) {
      report["trials"].push_back(trial_json(trial));
    }
    if (searches) {
      report["chosen"] = trial_json(*searched.trials[result.chosen]);
      report["retrained"] = Json::array();
      for (std::size_t i = 0; i < searched.plans.size(); ++i) {
        report["retrained"].push_back({{"iteration", searched.trials[i]->iteration},
                                       {"validation", metrics_json(result.plan_validation[i])}});
      }
    }
    report["interrupted"] = result.interrupted || searched.search.stopped;
    report["steps"] = {{"pretrain", searched.full.steps},
                       {"train", result.train_steps},
                       {"best", result.best_step},
                       {"final", result.final_steps}};
    report["seconds"] = {{"load", load_seconds},
                         {"pretrain", searched.pretrain_seconds},
                         {"search", searched.search_seconds},
                         {"search_own", searched.search.own_seconds},
                         {"search_waited", searched.search.waited_seconds},
                         {"retrain", result.train_seconds},
                         {"final", result.final_seconds},
                         {"export", 0},
                         {"total", seconds_since(start)}};
    report["milliseconds"] = {{"train_step", 1000 * result.train_step_seconds},
                              {"final_step", 1000 * result.final_step_seconds},
                              {"measure", 1000 * result.measure_seconds}};
    report["device"] = executor_for(fit.device).name();
    report["threads"] = num_threads();
    report["peak_rss_bytes"] = peak_resident_bytes();
    report["versions"] = versions_json();
    const Clock::time_point export_start = Clock::now();
    report["used"]["file_bytes"] =
        write_model_file(run.model(), dataset, split, options_, result.table,
                         export_choice(options_), facts_of(options_, hash, report.dump()));
    report["seconds"]["export"] = seconds_since(export_start);
    report["seconds"]["total"] = seconds_since(start);
    run.write_report(report.dump(2));
    say(run, "done: test " + report["test"].dump());
    return report;
  }

  std::filesystem::path folder() const { return options_.folder(); }

 private:
  // Data and options that decide the result: a state of another run is not gone on from.
  std::string identity(const std::string& data_hash) const {
    std::string text = data_hash;
    for (const ConfigEntry& entry : options_.to_config()) {
      if (entry.key == "data" || entry.key == "threads" || entry.key == "cache") continue;
      text += "\n" + entry.key + " = " + entry.value;
    }
    return text;
  }

  // Pretraining and Algorithm 1; leaves the plans to retrain, best first.
  Searched search(const Split& split, const TableShape& shape, std::uint64_t params,
                  const FitOptions& fit, const TrainingHooks& hooks, RunFolder& run,
                  const std::string& data_hash) const {
    FitCommand::SearchChoice choice = options_.resolve_search();
    RunStore store(run.path() / "run.db", identity(data_hash));
    // Once retraining has begun the search is over, however short it was cut: the state on disk is
    // of the plans that were best then.
    const bool is_over = options_.resume && has_fit_state(run.checkpoint());
    if (is_over) {
      choice.options.num_iterations = static_cast<std::uint32_t>(store.trials(shape).size());
    }
    const Graph graph = make_graph(split, TrainingPart::kTrain).to(fit.device);
    Searched result;
    Clock::time_point start = Clock::now();
    TrainingHooks pretrain_hooks = hooks;
    if (hooks.progress) {
      pretrain_hooks.progress = [&](Progress progress) {
        progress.phase = "pretrain";
        hooks.progress(progress);
      };
    }
    result.full = pretrain(split, graph, shape, fit.model, fit.schedule, pretrain_hooks,
                           options_.cache_folder(), pretrained_identity(data_hash),
                           run.checkpoint() / "pretrain.ckpt");
    result.pretrain_seconds = seconds_since(start);
    start = Clock::now();
    const Frequencies frequencies = train_frequencies(split);
    const PlanSampler sampler(shape, params, frequencies.users, frequencies.items);
    const MaskedTable full = result.full.table.to(fit.device);
    const Schedule finetune = finetune_schedule(
        choice.probe_schedule, split.counts().train,
        static_cast<std::uint32_t>(graph.active_users.size(0)), choice.finetune_epochs);
    const Prober prober(split, graph, full, result.full.validation.score(), fit.model, finetune);
    result.search = search_plans(sampler, frequencies, shape, prober, store, choice.options, hooks);
    result.search.stopped |=
        result.search.population.size() < options_.resolve_search().options.num_iterations;
    BET_CHECK(!result.search.population.empty(), "stopped before the first plan was measured");
    result.trials = trials_to_retrain(result.search.population, choice.retrain_top);
    for (const Trial* trial : result.trials) result.plans.push_back(trial->sampled.plan);
    result.search_seconds = seconds_since(start);
    return result;
  }

  // What decides the full-size model: nothing of the search or the budget.
  std::string pretrained_identity(const std::string& data_hash) const {
    constexpr std::string_view kOther[] = {
        "data",  "threads",    "budget",          "method",      "effort",
        "final", "iterations", "finetune-epochs", "retrain-top", "selection",
        "cache", "candidates", "min-dim"};
    std::string text = data_hash;
    for (const ConfigEntry& entry : options_.to_config()) {
      if (std::find(std::begin(kOther), std::end(kOther), entry.key) != std::end(kOther)) continue;
      text += "\n" + entry.key + " = " + entry.value;
    }
    return text;
  }

  void say(RunFolder& run, const std::string& text) const {
    run.log(text);
    if (!options_.quiet) std::fprintf(stderr, "%s\n", text.c_str());
  }

  FitCommand options_;
};

}  // namespace

void add_fit(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("fit", "train a model inside a memory budget");
  const auto options = std::make_shared<FitCommand>();  // owned by the parser's callback
  options->add_to(command);
  command.callback([options] {
    FitRun run(*options);
    const Json report = run.run();
    if (options->json) {
      std::puts(report.dump(2).c_str());
    } else {
      print_summary(report, run.folder());
    }
  });
}

}  // namespace bet
