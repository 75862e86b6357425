#include "run/fit.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/resident_memory.h"
#include "base/stopwatch.h"
#include "base/with_commas.h"
#include "kernels/kernels.h"
#include "model/blas.h"
#include "model/executor.h"
#include "model/tensor_memory.h"
#include "model/threads.h"
#include "plan/grown_plan.h"
#include "ranks/world.h"
#include "run/budget_promise.h"
#include "run/build_commit.h"
#include "run/equal_sizes.h"
#include "run/error_kinds.h"
#include "run/file_details.h"
#include "run/fit_command.h"
#include "run/fit_phases.h"
#include "run/model_file.h"
#include "run/option_table.h"
#include "run/popularity.h"
#include "run/report_files.h"
#include "run/report_json.h"
#include "run/run_folder.h"
#include "run/run_identity.h"
#include "run/sizes_by_rank.h"
#include "run/spending.h"
#include "run/test_hits.h"
#include "search/method.h"
#include "train/side_by_side.h"

namespace bet {
namespace {

// Standard input cannot be read again when the run is resumed: it is copied into the run.
std::string keep_standard_input(const RunFiles& files) {
  const std::filesystem::path copy = files.standard_input();
  std::ofstream out(copy, std::ios::binary);
  out << std::cin.rdbuf();
  out.close();
  BET_CHECK(out.good(), copy.string(), ": cannot write");
  return copy.string();
}

std::string data_text(const FitReport::Data& data) {
  return "data        " + data.name + ": " + with_commas(data.users) + " users, " +
         with_commas(data.items) + " items, " + with_commas(data.interactions) + " interactions (" +
         with_commas(data.parts.train) + " to train on, " + with_commas(data.parts.validation) +
         " for validation, " + with_commas(data.parts.test) + " for test)";
}

std::uint64_t bytes_of(const Graph& graph) {
  std::uint64_t bytes = 0;
  for (const at::Tensor* part :
       {&graph.offsets, &graph.columns, &graph.active_users, &graph.inverse_root,
        &graph.inverse_degree, &graph.quarter, &graph.quarter_root}) {
    bytes += part->nbytes();
  }
  return bytes;
}

FitReport::MeasuredPlan measured_plan(const Trial& trial) {
  const PlanOrigin& origin = trial.sampled.origin;
  return {.iteration = trial.iteration,
          .strategy = std::string(strategy_name(trial.strategy)),
          .predicted = trial.predicted,
          .fitness = trial.fitness,
          .user_share = origin.user_share,
          .user_family = std::string(family_name(origin.user_family)),
          .item_family = std::string(family_name(origin.item_family)),
          .user_shape = origin.user_shape,
          .item_shape = origin.item_shape,
          .user_kept = origin.user_kept,
          .item_kept = origin.item_kept,
          .precision = origin.precision,
          .form = origin.form,
          .steps = trial.steps,
          .fold = trial.fold,
          .loss = trial.loss,
          .plan = trial.candidate,
          .largest_size = trial.sampled.plan.largest_size(),
          .seconds = trial.seconds,
          .predictor_loss = trial.predictor_loss};
}

double share_of_full(const SizePlan& plan) {
  const double share =
      static_cast<double>(plan.num_params()) / static_cast<double>(plan.shape().full_params());
  return std::round(share * 1e4) / 1e4;
}

// What rank 0 tells the others first: whether there is work.
constexpr const char* kWork = "work";
constexpr const char* kSome = "some";
constexpr const char* kNone = "none";

class FitRun {
 public:
  FitRun(const FitJob& job, const FitCallbacks& callbacks)
      : callbacks_(callbacks),
        mode_(job.mode),
        folder_(job.folder.empty() ? default_folder(job.options) : job.folder),
        asked_(job.options),
        options_(with_defaults(job.options)),
        training_(retraining_options(search_options(options_))),
        retraining_(retraining_options(options_)),
        method_(method_of(options_)),
        ranks_(job.ranks.get()),
        shared_(job.data) {}

  FitReport run() {
    try {
      if (ranks_ != nullptr) refuse_alone();
      if (helps()) {
        help();
        return {};
      }
      const bool is_over = resumes() && is_complete();
      if (ranks_ != nullptr) ranks_->set(kWork, is_over ? kNone : kSome);
      if (is_over) {
        if (callbacks_.message) callbacks_.message(folder_.string() + " is complete");
        return read_report(run_->files().report());
      }
      join_columns();
      prepare();
      announce();
      train();
      return std::move(report_);
    } catch (const Interrupted& error) {
      throw Interrupted(str_cat(error.what(), "; to continue: bet resume ", folder_.string()));
    }
  }

  const std::filesystem::path& folder() const { return folder_; }

 private:
  // A rank that is not the first.
  bool helps() const { return ranks_ != nullptr && ranks_->rank() > 0; }

  // Throws on what only one process can do.
  void refuse_alone() const {
    BET_CHECK(divides_columns() || method_.shares_trainings, "--method ", options_.method,
              " has no trainings that ", ranks_->size(),
              " ranks could divide: only --method bet has; --divide columns divides a table");
    BET_CHECK(options_.data.path != "-", "standard input cannot be read by ", ranks_->size(),
              " ranks: give a file that all of them have");
  }

  bool divides_columns() const { return options_.divide == Division::kColumns; }

  // Does what the first rank needs help with.
  void help() {
    if (ranks_->wait_for(kWork, 0) == kNone) return;
    join_columns();
    use_machine();
    prepare_data();
    agree();
    graph_ = make_graph(split_, TrainingPart::kTrain).to(training_.device);
    TrainingHooks hooks;
    if (divides_columns()) {
      if (callbacks_.began) callbacks_.began(folder_);
      hooks.leave = callbacks_.leave;
      const Proposal proposal =
          nothing_to_cut() ? full_proposal() : proposal_from(method_input(hooks, {}));
      retrain(proposal, hooks);
    } else if (!nothing_to_cut()) {
      hooks.stop = [this] { return ranks_->asked_to_stop(); };
      method_.propose(method_input(hooks, {}));
    }
  }

  // Before data are read, which may take long: ranks that cannot reach each other are told so.
  void join_columns() {
    if (ranks_ != nullptr && divides_columns()) columns_ = ranks_->join_group();
  }

  bool resumes() const { return mode_ == FitMode::kResume || mode_ == FitMode::kContinueSearch; }

  // Of a run to resume, which must be the run that it was.
  bool is_complete() {
    run_ = RunFolder::open(folder_);
    folder_ = run_->path();
    refuse_contradictions(stored_options(read_config(run_->files().config())), options_, folder_);
    const bool continues_search = mode_ == FitMode::kContinueSearch;
    BET_CHECK(!continues_search || method_.by_trials, folder_.string(),
              ": --continue-search needs a run of --method bet or bet-paper, not ",
              options_.method);
    return !continues_search && std::filesystem::exists(run_->files().report());
  }

  // Loads the data and opens the folder. Nothing is left behind by a request that cannot be met;
  // but standard input has to be kept before it is read.
  void prepare() {
    use_machine();
    if (!resumes()) RunFolder::check_free(folder_, mode_ == FitMode::kOverwrite);
    if (options_.data.path == "-") {
      run_ = RunFolder::create(folder_, mode_ == FitMode::kOverwrite);
      options_.data.path = keep_standard_input(run_->files());
    }
    prepare_data();
    agree();
    if (!run_) run_ = RunFolder::create(folder_, mode_ == FitMode::kOverwrite);
    if (!resumes()) write_config(to_config(options_), run_->files().config());
    if (callbacks_.began) callbacks_.began(folder_);
    run_->keep_identity(identity_);
  }

  void use_machine() {
    use_huge_page_tensors();
    set_num_threads(options_.threads, ranks_ != nullptr ? ranks_->place().local_size : 1);
    training_.device = retraining_.device = find_device(options_.device);
  }

  void prepare_data() {
    load_data();
    shape_ = table_shape(options_, dataset_);
    spending_ = resolve_spending(options_, dataset_, split_);
    allowed_ = spending_.budget;
    if (allowed_ && allowed_->covers_full && !options_.precision) use_full_precision();
    report_.seconds.load = watch_.seconds();
    identity_ = run_identity(options_, report_.data.hash);
  }

  // All ranks make the same run.
  void agree() const {
    if (ranks_ == nullptr) return;
    // States are read by all ranks or none.
    ranks_->agree(str_cat("version = ", BET_VERSION, " ", build_commit(),
                          "\ncommand = ", resumes() ? "resume" : "fit", "\ndata = ", identity_));
  }

  // What holds the full table needs no low precision.
  void use_full_precision() {
    FitOptions asked = asked_;
    asked.data = options_.data;
    asked.precision = Precision::kFloat32;
    options_ = with_defaults(asked);
    const at::Device device = training_.device;
    training_ = retraining_options(search_options(options_));
    retraining_ = retraining_options(options_);
    training_.device = retraining_.device = device;
  }

  void load_data() {
    if (!shared_) own_ = load_run_data(options_.data);
    report_.data = data_.about;
  }

  void announce() {
    message(data_text(report_.data));
    if (ranks_ != nullptr) {
      message(str_cat("ranks       ", ranks_->size(),
                      divides_columns() ? ", which divide the columns of the table"
                                        : ", which divide the trainings of the search; the best "
                                          "plan is trained by rank 0"));
    }
    if (options_.threads > num_threads()) {
      message(str_cat("--threads ", options_.threads, ": this machine has ", num_threads(),
                      " cores, and as many threads are used"));
    }
    if (!dataset_.columns.empty()) message("columns: " + dataset_.columns);
    if (const std::string note = split_note(dataset_, options_.data.split); !note.empty()) {
      message(note);
    }
    if (training_.device.is_cpu() && find_backbone(options_.backbone).multiplies &&
        multiplies_with_reference_blas()) {
      message("LibTorch found only the reference BLAS here, with which " + options_.backbone +
              " trains several times slower; `apt install libopenblas0-pthread` replaces it");
    }
    if (allowed_ && allowed_->covers_full) {
      message("the budget holds the full table: nothing needs to be cut");
    }
    if (!spending_.with_seen && options_.seen == SeenItems::kAuto) {
      message(str_cat("budget ", allowed_->requested.text,
                      " has no room for the items that users have: the file will not know them, "
                      "and whoever asks it for recommendations has to exclude them"));
    }
  }

  void train() {
    graph_ = make_graph(split_, TrainingPart::kTrain).to(training_.device);
    ProgressTracker tracker(phases_of(options_, split_, nothing_to_cut(), allowed_share()),
                            callbacks_.progress);
    const TrainingHooks hooks = make_hooks(tracker);
    const bool trains_before = !nothing_to_cut() && (method_.trains || method_.pretrains);
    if (trains_before) say_memory(widest_training(), "up to ");
    const Proposal proposal = propose(hooks, tracker.progress());
    tracker.end_phase();
    if (!trains_before) say_memory(proposal.plans, "");
    if (!proposal.note.empty()) message(proposal.note);
    double columns = 0;
    double widest = 0;
    for (const SizePlan& plan : proposal.plans) {
      if (allowed_) {
        check_plan_fits(plan, *allowed_, export_choice(options_, plan.precision(), plan.form()));
      }
      columns += plan.width();
      widest = std::max<double>(widest, plan.width());
    }
    set_training_work(tracker.progress(), options_, split_,
                      {columns, widest, proposal.choice, comparable_full()});
    const RetrainingResult result = retrain(proposal, hooks);
    tracker.end_phase();
    if (options_.loss == LossSetting::kAuto) report_.loss = {result.loss, result.loss_trials};
    fill_report(proposal, result);
    options_ = with_loss(options_, result.loss);
    finish(result.table);
  }

  // The full-size model where it tells how long trainings are: by the same schedule. Null: none.
  const Pretrained* comparable_full() const {
    const bool comparable = options_.loss != LossSetting::kAuto &&
                            training_.schedule.max_steps == retraining_.schedule.max_steps;
    return full_ && comparable ? &*full_ : nullptr;
  }

  // What a method may train at once: a full-size model, or plans side by side.
  std::vector<SizePlan> widest_training() const {
    const SizePlan full = full_plan(shape_);
    const std::size_t side_by_side =
        method_.shares_trainings ? most_columns_side_by_side(shape_.num_rows(), training_.device) /
                                       columns_side_by_side(full, find_backbone(options_.backbone))
                                 : 1;
    return std::vector<SizePlan>(std::max<std::size_t>(1, side_by_side), full);
  }

  // Before anything is trained.
  void say_memory(std::span<const SizePlan> plans, const char* at_most) {
    ModelOptions model = retraining_.model;
    model.ranks = columns_.get();
    std::uint64_t bytes = training_memory(*graph_, plans, model, retraining_.schedule).about;
    // The final training has a graph of its own.
    if (retraining_.final_part != TrainingPart::kTrain) bytes += bytes_of(*graph_);
    const Executor& executor = executor_for(training_.device);
    constexpr std::uint64_t kMegabyte = 1'000'000;
    message(str_cat("memory      training takes ", at_most, "about ",
                    with_commas(bytes / kMegabyte + 1), " MB", columns_ ? " of each rank" : "",
                    "; ", with_commas(executor.free_bytes() / kMegabyte), " MB are free on ",
                    executor.name()));
  }

  RetrainingResult retrain(const Proposal& proposal, const TrainingHooks& hooks) {
    retraining_.model.ranks = columns_.get();
    try {
      return retrain_plans({split_, *graph_, retraining_.model, retraining_.schedule, hooks},
                           retraining_.final_part, proposal.plans,
                           {RunFiles{folder_}.checkpoints().folder, identity_, resumes()},
                           loss_search(proposal), proposal.choice);
    } catch (const Error& error) {
      // A rank that no longer answers ends the training of all.
      if (!columns_ || error.kind() != ErrorKind::kInternal) throw;
      std::string text = error.what();
      if (!helps()) {
        for (const std::string& loss : ranks_->wait_for_losses()) text += "; " + loss;
        text += str_cat("; what was saved is kept; to continue: bet resume ", folder_.string());
      }
      fail_as(ErrorKind::kInternal, text);
    }
  }

  LossSearch loss_search(const Proposal& proposal) const {
    if (options_.loss != LossSetting::kAuto) return {};
    return {true, proposal.loss, options_.cache,
            str_cat("loss 7\n", pretrained_identity(options_, report_.data.hash),
                    "\nfinal part = ", static_cast<int>(retraining_.final_part))};
  }

  TrainingHooks make_hooks(ProgressTracker& tracker) {
    TrainingHooks hooks;
    hooks.log = [this](const std::string& text) { run_->log(text); };
    hooks.stop = [this, &tracker] {
      const bool stop = callbacks_.stop && callbacks_.stop();
      if (stop) tracker.cut_short();
      return stop;
    };
    hooks.leave = callbacks_.leave;
    hooks.progress = [&tracker](const Progress& progress) { tracker.note(progress); };
    return hooks;
  }

  // Of the full table's parameters, that plans may have.
  double allowed_share() const {
    if (!allowed_) return 1;
    return std::min(
        1.0, static_cast<double>(allowed_->params) / static_cast<double>(shape_.full_params()));
  }

  // The full table is trained as it is. A cap that holds everything ends no growth.
  bool nothing_to_cut() const {
    return allowed_ && allowed_->covers_full && method_.budget == BudgetUse::kNeeded;
  }

  // A plan in the precision and form of the run, where the method chooses none.
  SizePlan as_stored(const SizePlan& plan) const {
    return plan.with_precision(usual_precision(options_))
        .with_form(trains_vectors(options_) ? StoredForm::kVectors : StoredForm::kTable);
  }

  // The plan, grown by what its table leaves of a budget of bytes: equal sizes leave some.
  SizePlan with_full_table(const SizePlan& plan) const {
    const std::uint64_t bytes = plan.stored_bytes();
    if (bytes >= allowed_->table_bytes) return plan;
    const Frequencies frequencies = train_frequencies(split_);
    return grown_plan(plan, allowed_->table_bytes - bytes, frequencies.users, frequencies.items);
  }

  // The plan, grown by what its file leaves of the budget: before there is a plan, ids and
  // interactions have to be given room for any order of rows.
  SizePlan with_full_file(const SizePlan& plan) {
    const auto bytes_of = [this](const SizePlan& one) {
      return most_file_bytes(dataset_, split_, options_, one, spending_.with_seen);
    };
    const std::uint64_t bytes = bytes_of(plan);
    if (bytes >= allowed_->bytes) return plan;
    const Frequencies frequencies = train_frequencies(split_);
    // Larger rows change the order, and with it the rest of the file.
    for (const double part : {0.99, 0.9, 0.7, 0.4}) {
      const auto more =
          static_cast<std::uint64_t>(part * static_cast<double>(allowed_->bytes - bytes));
      SizePlan larger = grown_plan(plan, more, frequencies.users, frequencies.items);
      if (bytes_of(larger) > allowed_->bytes) continue;
      allowed_->table_bytes = std::max(allowed_->table_bytes, larger.stored_bytes());
      return larger;
    }
    return plan;
  }

  Proposal propose(const TrainingHooks& hooks, RunProgress& progress) {
    if (nothing_to_cut()) {
      BET_CHECK(mode_ != FitMode::kContinueSearch, folder_.string(),
                ": has no search to continue: its budget holds the full table");
      return full_proposal();
    }
    const Stopwatch watch;
    MethodInput input = method_input(hooks, [&] { return pretrain_full(hooks, progress); });
    input.files = run_->files();
    input.state.path = input.files.checkpoints().method();
    input.has_plan = [this] { stop_effect(StopEffect::kFinishes); };
    Proposal proposal = proposal_from(input);
    stop_effect(StopEffect::kFinishes);
    report_.seconds.search = watch.seconds() - report_.seconds.pretrain;
    return proposal;
  }

  Proposal full_proposal() const { return {.plans = {as_stored(full_plan(shape_))}}; }

  // With plans as they are trained and stored.
  Proposal proposal_from(const MethodInput& input) {
    Proposal proposal = method_.propose(input);
    BET_CHECK(!proposal.plans.empty(), "--method ", options_.method, " made no plan");
    if (!method_.chooses_precision) {
      for (SizePlan& plan : proposal.plans) plan = as_stored(plan);
    }
    if (method_.fills && allowed_->target == BudgetFor::kFile) {
      for (SizePlan& plan : proposal.plans) plan = with_full_file(plan);
    } else if (method_.fills && spending_.limits.front().in_bytes) {
      for (SizePlan& plan : proposal.plans) plan = with_full_table(plan);
    }
    return proposal;
  }

  // What all ranks have of it.
  MethodInput method_input(const TrainingHooks& hooks, std::function<Pretrained()> pretrained) {
    MethodInput input{split_,
                      *graph_,
                      shape_,
                      std::nullopt,
                      training_,
                      retraining_,
                      options_.loss == LossSetting::kAuto,
                      options_.search,
                      hooks,
                      {{}, identity_},
                      std::move(pretrained),
                      options_.cache,
                      pretrained_identity(search_options(options_), report_.data.hash)};
    if (allowed_ && !allowed_->covers_full) {
      input.params = allowed_->params;
      input.limits = spending_.limits;
    }
    input.resumes = resumes();
    input.continue_search = mode_ == FitMode::kContinueSearch;
    input.ranks = ranks_;
    input.message = [this](const std::string& text) { message(text); };
    return input;
  }

  Pretrained pretrain_full(const TrainingHooks& hooks, RunProgress& progress) {
    const Stopwatch watch;
    TrainingHooks pretrain_hooks = hooks;
    pretrain_hooks.progress = [&](Progress one) {
      one.phase = "pretrain";
      hooks.progress(one);
    };
    stop_effect(StopEffect::kLeaves);
    full_ = pretrain({split_, *graph_, training_.model, training_.schedule, pretrain_hooks}, shape_,
                     options_.cache,
                     {run_->files().checkpoints().pretraining(),
                      pretrained_identity(search_options(options_), report_.data.hash)});
    if (!method_.by_trials) stop_effect(StopEffect::kFinishes);
    const double plans = options_.search.retrain_top.value_or(1);
    const double columns = plan_columns(options_.dim, allowed_share());
    set_training_work(progress, options_, split_,
                      {.columns = plans * columns, .widest = columns, .full = comparable_full()});
    report_.seconds.pretrain = watch.seconds();
    return *full_;
  }

  void fill_report(const Proposal& proposal, const RetrainingResult& result) {
    const SizePlan& plan = proposal.plans[result.chosen];
    report_.backbone = options_.backbone;
    report_.method = options_.method;
    report_.seed = options_.seed;
    report_.budget = allowed_;
    report_.used.params = plan.num_params();
    report_.used.share = share_of_full(plan);
    report_.validation = result.validation;
    report_.test = result.test;
    if (full_) {
      report_.full_validation = full_->validation;
    } else if (plan.num_params() == shape_.full_params() && plan.precision() == TablePrecision()) {
      report_.full_validation = result.validation;
    }
    report_search(proposal, result);
    report_costs(proposal, result);
    report_details(proposal, result);
  }

  void report_details(const Proposal& proposal, const RetrainingResult& result) {
    RunDetails& details = report_.details;
    const TrainingPart part = retraining_.final_part;
    details.command = fit_command(options_);
    details.length_trials = proposal.length_trials;
    details.popularity.emplace();
    details.popularity->validation =
        mean_of(popularity_quality(split_, TrainingPart::kTrain, HeldOut::kValidation).measures);
    if (part != TrainingPart::kAll) {
      details.popularity->test = mean_of(popularity_quality(split_, part, HeldOut::kTest).measures);
    }
    TableShape unmasked = shape_;
    unmasked.masks = false;
    const SizePlan full = full_plan(unmasked);
    details.full_table = {full.num_params(), full.stored_bytes()};
    details.equal = equal_sizes(proposal, result);
    details.sizes = sizes_by_rank(proposal.plans[result.chosen], train_frequencies(split_));
    details.train_curve = result.train_curve;
    details.final_curve = result.final_curve;
  }

  void report_search(const Proposal& proposal, const RetrainingResult& result) {
    if (proposal.planned_trials > 0) report_.planned_trials = proposal.planned_trials;
    for (const Trial& trial : proposal.trials) report_.trials.push_back(measured_plan(trial));
    report_.note = proposal.note;
    report_.chosen = result.chosen;
    const bool from_trials = !proposal.trials.empty();
    if (!from_trials && proposal.labels.empty()) return;
    for (std::size_t i = 0; i < proposal.plans.size(); ++i) {
      FitReport::Retrained retrained;
      if (from_trials) {
        retrained.iteration = proposal.trials[proposal.trial_of_plan[i]].iteration;
      } else {
        retrained.label = proposal.labels[i];
      }
      retrained.validation = result.plan_validation[i];
      if (!result.final_scores.empty()) retrained.final_score = result.final_scores[i];
      report_.retrained.push_back(std::move(retrained));
    }
  }

  void report_costs(const Proposal& proposal, const RetrainingResult& result) {
    report_.interrupted = result.interrupted || proposal.stopped;
    report_.trainings = {proposal.trainings, proposal.plans.size()};
    report_.steps = {.pretrain = full_ ? full_->steps : 0,
                     .search = proposal.steps,
                     .train = result.train_steps,
                     .best = result.best_length,
                     .final_training = result.final_steps};
    report_.seconds.search_own = proposal.own_seconds;
    report_.seconds.search_waited = proposal.waited_seconds;
    report_.seconds.retrain = result.train_seconds;
    report_.seconds.final_training = result.final_seconds;
    report_.milliseconds = {1000 * result.train_step_seconds, 1000 * result.final_step_seconds,
                            1000 * result.measure_seconds};
    report_.device = executor_for(training_.device).name();
    report_.threads = num_threads();
    report_.ranks = ranks_ != nullptr ? ranks_->size() : 1;
    report_.peak_rss_bytes = peak_resident_bytes();
    report_.versions = {BET_VERSION, build_commit(), torch_version(), std::string(kernels().name)};
  }

  // Writes the model file and, with what only the file decides, the report.
  void finish(const ModelParameters& parameters) {
    const RunFiles& files = run_->files();
    const Stopwatch watch;
    ExportChoice choice = export_choice(options_, parameters.precisions.at(0), parameters.form());
    choice.with_seen = spending_.with_seen;
    options_.materialised = choice.materialised;
    write_model_file(files.model(), {dataset_, split_, options_, parameters}, choice, report_);
    const std::vector<UserHits> hits =
        add_file_details(files.model(), dataset_, split_, options_, report_.details);
    if (!hits.empty()) write_test_hits(hits, files.test_hits());
    report_.seconds.model_file = watch.seconds();
    report_.seconds.total = watch_.seconds();
    write_report_files(report_, files);
    // Until here a resumed run continues from them.
    std::filesystem::remove(files.checkpoints().method());
    std::filesystem::remove(files.checkpoints().retraining());
    run_->log("done: test " + json_text(metrics_json(report_.test)));
  }

  void message(const std::string& text) {
    if (run_) run_->log(text);
    if (callbacks_.message) callbacks_.message(text);
  }

  void stop_effect(StopEffect effect) const {
    if (callbacks_.stop_effect) callbacks_.stop_effect(effect);
  }

  const FitCallbacks& callbacks_;
  FitMode mode_;
  std::filesystem::path folder_;
  FitOptions asked_;
  FitOptions options_;          // resolved
  RetrainingOptions training_;  // of what comes before retraining
  RetrainingOptions retraining_;
  const MethodKind& method_;
  World* ranks_;                        // null: one process alone
  std::unique_ptr<RankGroup> columns_;  // of those that divide the table; null: nobody does
  Stopwatch watch_;

  std::optional<RunFolder> run_;
  std::shared_ptr<const RunData> shared_;
  RunData own_;  // where none is shared
  const RunData& data_ = shared_ ? *shared_ : own_;
  const Dataset& dataset_ = data_.dataset;
  const Split& split_ = data_.split;
  TableShape shape_;
  Spending spending_;
  std::optional<ResolvedBudget> allowed_;  // what the budget comes to
  std::string identity_;
  std::optional<Graph> graph_;  // of the training part, on the device
  std::optional<Pretrained> full_;
  FitReport report_;
};

}  // namespace

FitResult fit(const FitJob& job, const FitCallbacks& callbacks) {
  return with_error_kinds([&]() -> FitResult {
    try {
      FitRun run(job, callbacks);
      FitReport report = run.run();
      return {run.folder(), std::move(report)};
    } catch (const std::exception& error) {
      if (job.ranks) job.ranks->give_up(error.what());
      throw;
    }
  });
}

FitJob resume_job(const std::filesystem::path& folder) {
  const RunFiles files = RunFolder::find(folder);
  return {stored_options(read_config(files.config())), files.folder, FitMode::kResume};
}

}  // namespace bet
