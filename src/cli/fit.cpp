#include <algorithm>
#include <chrono>
#include <cmath>
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
#include "cli/fit_phases.h"
#include "cli/fit_summary.h"
#include "cli/interrupt.h"
#include "cli/model_export.h"
#include "cli/progress_line.h"
#include "cli/report.h"
#include "cli/run_folder.h"
#include "cli/run_identity.h"
#include "cli/text.h"
#include "data/byte_stream.h"
#include "model/blas.h"
#include "model/executor.h"
#include "model/tensor_memory.h"
#include "model/threads.h"
#include "search/bet_search.h"
#include "search/method.h"
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
  return {{{"requested", options.budget},
           {"params", budget.params},
           {"bytes", budget.bytes},
           {"precision", options.precision},
           {"covers_full", budget.covers_full}},
          budget,
          budget.covers_full};
}

// What a method leaves for retraining and for the report.
struct Searched {
  Proposal proposal;
  std::vector<const Trial*> trials;  // of the search: by plan
  SearchResult search;
  std::optional<Pretrained> full;
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

// What was retrained and chosen, where there was a choice.
void report_plans(const Searched& searched, const RetrainingResult& result, Json& report) {
  const Proposal& proposal = searched.proposal;
  if (!proposal.note.empty()) report["note"] = proposal.note;
  const bool named = !proposal.labels.empty();
  if (searched.trials.empty() && !named) return;
  report["chosen"] =
      named ? Json(proposal.labels[result.chosen]) : trial_json(*searched.trials[result.chosen]);
  report["retrained"] = Json::array();
  for (std::size_t i = 0; i < proposal.plans.size(); ++i) {
    const Json validation = metrics_json(result.plan_validation[i]);
    if (named) {
      report["retrained"].push_back({{"plan", proposal.labels[i]}, {"validation", validation}});
    } else {
      report["retrained"].push_back(
          {{"iteration", searched.trials[i]->iteration}, {"validation", validation}});
    }
  }
}

double share_of_full(const SizePlan& plan) {
  return static_cast<double>(plan.num_params()) / static_cast<double>(plan.shape().full_params());
}

double four_digits(double value) { return std::round(value * 1e4) / 1e4; }

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
            " parameters breaks the budget ", options.budget);
}

std::string data_text(const Json& data) {
  const Json& split = data["split"];
  return "data        " + data["name"].get<std::string>() + ": " + with_commas(data["users"]) +
         " users, " + with_commas(data["items"]) + " items, " + with_commas(data["interactions"]) +
         " interactions (" + with_commas(split["train"]) + " to train on, " +
         with_commas(split["validation"]) + " for validation, " + with_commas(split["test"]) +
         " for test)";
}

class FitRun {
 public:
  explicit FitRun(FitCommand options) : options_(std::move(options)) {}

  // The report. Throws Interrupted, naming the command that continues the run, where a signal ended
  // it early.
  Json run() {
    try {
      if (options_.resume) {
        if (const std::optional<Json> report = check_resumed()) return *report;
      }
      return run_phases();
    } catch (const Interrupted& error) {
      throw Interrupted(
          str_cat(error.what(), "; to continue: bet resume ", options_.folder().string()));
    }
  }

  std::filesystem::path folder() const { return options_.folder(); }

 private:
  // What is to be resumed must be the run that it was; its report if it is complete already.
  std::optional<Json> check_resumed() const {
    const RunFolder run = RunFolder::open(options_.folder());
    refuse_contradictions(parse_fit_options(read_config(run.config())), options_, run.path());
    BET_CHECK(!options_.continue_search || options_.method == "bet", run.path().string(),
              ": --continue-search needs a run of --method bet, not ", options_.method);
    if (options_.continue_search || !std::filesystem::exists(run.report())) return std::nullopt;
    std::fprintf(stderr, "%s is complete\n", run.path().c_str());
    return Json::parse(std::ifstream(run.report()));
  }

  Json run_phases() {
    const Clock::time_point start = Clock::now();
    use_huge_page_tensors();
    set_num_threads(options_.process.threads);
    RetrainingOptions fit = options_.resolve();
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
    const double load_seconds = seconds_since(start);
    if (!folder_of_run) {
      folder_of_run = RunFolder::create(options_.folder(), options_.overwrite);
    }
    RunFolder& run = *folder_of_run;
    if (!options_.resume) run.write_config(options_.to_config());
    watch_termination(run.path());
    run.keep_identity(run_identity(options_, hash));
    say(run, data_text(about_data));
    if (!dataset.columns.empty()) say(run, "columns: " + dataset.columns);
    if (const std::string note = split_note(dataset, parse_split_kind(options_.data.split));
        !note.empty()) {
      say(run, note);
    }
    if (fit.device.is_cpu() && find_backbone(options_.backbone).multiplies &&
        multiplies_with_reference_blas()) {
      say(run, "LibTorch found only the reference BLAS here, with which " + options_.backbone +
                   " trains several times slower; `apt install libopenblas0-pthread` replaces it");
    }
    if (budget.covers_full && !options_.budget.empty()) {
      say(run, "the budget holds the full table: nothing needs to be cut");
    }

    ProgressLine line(phases_of(options_, split, nothing_to_cut(budget)));
    TrainingHooks hooks;
    hooks.log = [&](const std::string& text) { run.log(text); };
    hooks.stop = [&] {
      const bool stop = take_interrupt();
      if (stop) line.cut_short();
      return stop;
    };
    hooks.leave = is_terminated;
    if (!options_.process.quiet) hooks.progress = [&](const Progress& p) { line.show(p); };
    const Graph graph = make_graph(split, TrainingPart::kTrain).to(fit.device);
    const Searched searched =
        search(split, graph, shape, budget, fit, hooks, run, hash, line.progress());
    line.end();
    if (!searched.proposal.note.empty()) say(run, searched.proposal.note);
    const std::vector<SizePlan>& plans = searched.proposal.plans;
    for (const SizePlan& plan : plans) check_promise(plan, options_, budget.json);
    double columns = 0;
    double widest = 0;
    for (const SizePlan& one : plans) {
      columns += one.width();
      widest = std::max<double>(widest, one.width());
    }
    set_training_work(line.progress(), columns, widest, fit.schedule,
                      searched.full ? &*searched.full : nullptr);
    const RetrainingResult result =
        retrain_plans({split, graph, fit.model, fit.schedule, hooks}, fit.final_part, plans,
                      {run.checkpoint(), run_identity(options_, hash), options_.resume});
    line.end();

    const SizePlan& plan = plans[result.chosen];
    Json report = {{"dataset", about_data},
                   {"backbone", options_.backbone},
                   {"method", options_.method},
                   {"seed", options_.seed},
                   {"budget", budget.json},
                   {"used",
                    {{"params", plan.num_params()},
                     {"share", four_digits(share_of_full(plan))},
                     {"bytes", exported_table_bytes(plan, export_choice(options_))},
                     {"file_bytes", nullptr}}},
                   {"validation", metrics_json(result.validation)},
                   {"test", metrics_json(result.test)}};
    if (searched.full) {
      report["full"] = {{"validation", metrics_json(searched.full->validation)}};
    } else if (plan.num_params() == shape.full_params()) {
      report["full"] = {{"validation", report["validation"]}};
    }
    if (options_.method == "bet" && !nothing_to_cut(budget)) {
      report["planned_trials"] = options_.resolve_search().options.num_iterations;
    }
    report["trials"] = Json::array();
    for (const Trial& trial : searched.search.population) {
      report["trials"].push_back(trial_json(trial));
    }
    report_plans(searched, result, report);
    report["interrupted"] = result.interrupted || searched.proposal.stopped;
    report["trainings"] = {{"search", searched.proposal.trainings}, {"retrain", plans.size()}};
    report["steps"] = {{"pretrain", searched.full ? searched.full->steps : 0},
                       {"search", searched.proposal.steps},
                       {"train", result.train_steps},
                       {"best", result.best_length},
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
    write_model_file(run.model(), dataset, split, options_, result.table, export_choice(options_),
                     report);
    report["seconds"]["export"] = seconds_since(export_start);
    report["seconds"]["total"] = seconds_since(start);
    run.write_report(json_text(report, 2));
    std::filesystem::remove(method_state(run));
    run.log("done: test " + json_text(report["test"]));
    return report;
  }

  // The full table is trained as it is. A cap that holds everything ends no growth.
  bool nothing_to_cut(const AskedBudget& budget) const {
    const MethodKind* const method = options_.kind();
    return !options_.budget.empty() && budget.covers_full &&
           (method == nullptr || method->budget == BudgetUse::kNeeded);
  }

  static std::filesystem::path method_state(const RunFolder& run) {
    return run.checkpoint() / "method.ckpt";
  }

  // The method's plans to retrain, those of the search best first.
  Searched search(const Split& split, const Graph& graph, const TableShape& shape,
                  const AskedBudget& budget, const RetrainingOptions& fit,
                  const TrainingHooks& hooks, RunFolder& run, const std::string& data_hash,
                  RunProgress& progress_of_run) const {
    Searched result;
    const MethodKind* const method = options_.kind();
    if (nothing_to_cut(budget)) {
      BET_CHECK(!options_.continue_search, run.path().string(),
                ": has no search to continue: its budget holds the full table");
      result.proposal.plans = {full_plan(shape)};
      return result;
    }
    const Clock::time_point start = Clock::now();
    const auto pretrained = [&]() -> Pretrained {
      const Clock::time_point begin = Clock::now();
      TrainingHooks pretrain_hooks = hooks;
      if (hooks.progress) {
        pretrain_hooks.progress = [&](Progress progress) {
          progress.phase = "pretrain";
          hooks.progress(progress);
        };
      }
      say_at_interrupt(kNothingToFinish);
      result.full = pretrain(
          {split, graph, fit.model, fit.schedule, pretrain_hooks}, shape, options_.cache_folder(),
          {run.checkpoint() / "pretrain.ckpt", pretrained_identity(options_, data_hash)});
      if (method != nullptr) say_at_interrupt(kFinishing);
      const double plans = method == nullptr ? options_.resolve_search().retrain_top : 1;
      set_training_work(progress_of_run, plans * options_.dim, options_.dim, fit.schedule,
                        &*result.full);
      result.pretrain_seconds = seconds_since(begin);
      return *result.full;
    };
    if (method == nullptr) {
      search_by_fitness(split, graph, shape, budget.resolved.params, fit, hooks, run,
                        run_identity(options_, data_hash), pretrained(), result);
    } else {
      const MethodOptions method_options = options_.resolve_method();
      MethodInput input{
          split,     graph,          shape, std::nullopt,
          fit,       method_options, hooks, {method_state(run), run_identity(options_, data_hash)},
          pretrained};
      if (!budget.covers_full) input.params = budget.resolved.params;
      result.proposal = method->propose(input);
      BET_CHECK(!result.proposal.plans.empty(), "--method ", options_.method, " made no plan");
    }
    result.search_seconds = seconds_since(start) - result.pretrain_seconds;
    return result;
  }

  // Algorithm 1.
  void search_by_fitness(const Split& split, const Graph& graph, const TableShape& shape,
                         std::uint64_t params, const RetrainingOptions& fit,
                         const TrainingHooks& hooks, const RunFolder& run, const std::string& whose,
                         const Pretrained& theta, Searched& result) const {
    FitCommand::SearchChoice choice = options_.resolve_search();
    const std::uint32_t asked = choice.options.num_iterations;
    RunStore store(run.path() / "run.db", whose);
    // Once retraining has begun the search is over, however short it was cut: the state on disk is
    // of the plans that were best then.
    const auto stored = static_cast<std::uint32_t>(store.trials(shape).size());
    if (options_.continue_search) {
      BET_CHECK(stored < asked, run.path().string(), ": its search is complete (", stored, " of ",
                asked, " plans)");
      // What was made of the search so far: without it this is a run that was killed in the search.
      std::filesystem::remove(run.report());
      drop_retraining_state(run.checkpoint());
    } else if (options_.resume && has_retraining_state(run.checkpoint())) {
      choice.options.num_iterations = stored;
    }
    const Frequencies frequencies = train_frequencies(split);
    const PlanSampler sampler(shape, params, frequencies.users, frequencies.items);
    const ModelParameters full = theta.table.to(fit.device);
    const Schedule finetune = finetune_schedule(
        choice.probe_schedule, split.counts().train,
        static_cast<std::uint32_t>(graph.active_users.size(0)), choice.finetune_epochs);
    const Prober prober({split, graph, fit.model, finetune, hooks}, full, theta.validation.score());
    TrainingHooks search_hooks = hooks;
    search_hooks.log = [&](const std::string& text) {
      say_at_interrupt(kFinishing);  // a plan was measured
      hooks.log(text);
    };
    result.search =
        search_plans(sampler, frequencies, shape, prober, store, choice.options, search_hooks);
    say_at_interrupt(kFinishing);
    const std::vector<Trial>& population = result.search.population;
    if (population.empty()) throw Interrupted("stopped before the first plan was measured");
    result.trials = trials_to_retrain(population, choice.retrain_top);
    for (const Trial* trial : result.trials) {
      result.proposal.plans.push_back(trial->sampled.plan);
    }
    result.proposal.trainings = population.size();
    result.proposal.steps = population.size() * finetune.max_steps;
    result.proposal.stopped = result.search.stopped || population.size() < asked;
  }

  void say(RunFolder& run, const std::string& text) const {
    run.log(text);
    if (!options_.process.quiet) std::fprintf(stderr, "%s\n", text.c_str());
  }

  FitCommand options_;
};

void fit(const FitCommand& options) {
  FitRun run(options);
  try {
    const Json report = run.run();
    if (options.process.json) {
      std::puts(json_text(report, 2).c_str());
    } else {
      std::fputs(fit_summary(report, run.folder()).c_str(), stdout);
    }
  } catch (const Interrupted& error) {
    std::fprintf(stderr, "bet: %s\n", error.what());
    throw CLI::RuntimeError(interrupted_exit_code());
  }
}

}  // namespace

void add_fit(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("fit", "train a model inside a memory budget");
  const auto options = std::make_shared<FitCommand>();  // owned by the parser's callback
  options->add_to(command);
  command.callback([options] { fit(*options); });
}

void add_resume(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("resume", "continue a run that was interrupted");
  // For --help and for lines that are not understood; others reach `fit` (resume_as_fit).
  struct ResumeCommand {
    std::string run;
    bool continue_search = false;
    ProcessOptions process;
  };
  const auto options = std::make_shared<ResumeCommand>();  // owned by the parser's callback
  command.add_option("RUN", options->run, "a run folder")->required();
  command.add_flag("--continue-search", options->continue_search,
                   "probe the plans that a search cut short by Ctrl-C has left out, and train the "
                   "best again");
  options->process.add_to(command);
  command.callback([options] { fail("resume ", options->run, ": give one run folder"); });
}

}  // namespace bet
