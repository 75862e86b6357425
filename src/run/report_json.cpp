#include "run/report_json.h"

#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/precision_text.h"
#include "run/details_json.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename Value>
std::optional<Value> optional_at(const Json& json, const char* key) {
  if (!json.contains(key) || json[key].is_null()) return std::nullopt;
  return json[key].get<Value>();
}

std::optional<TablePrecision> precision_at(const Json& json) {
  const auto text = optional_at<std::string>(json, "precision");
  return text ? parse_table_precision(*text) : std::nullopt;
}

Json data_json(const FitReport::Data& data) {
  return {{"name", data.name},
          {"users", data.users},
          {"items", data.items},
          {"interactions", data.interactions},
          {"hash", data.hash},
          {"split",
           {{"kind", split_name(data.split)},
            {"seed", data.split_seed},
            {"train", data.parts.train},
            {"validation", data.parts.validation},
            {"test", data.parts.test}}}};
}

FitReport::Data data_from(const Json& json) {
  const Json& split = json.at("split");
  return {.name = json.at("name"),
          .users = json.at("users"),
          .items = json.at("items"),
          .interactions = json.at("interactions"),
          .hash = json.at("hash"),
          .text_ids = {},
          .split = parse_split_kind(split.at("kind").get<std::string>()),
          .split_seed = split.at("seed"),
          .parts = {split.at("train"), split.at("validation"), split.at("test")}};
}

Json budget_json(const std::optional<ResolvedBudget>& budget) {
  if (!budget) return nullptr;
  return {{"requested", budget->requested.text},
          {"for", target_name(budget->target)},
          {"params", budget->params},
          {"bytes", budget->bytes},
          {"table_bytes", budget->table_bytes},
          {"precision", budget->precision ? Json(precision_name(*budget->precision)) : "auto"},
          {"covers_full", budget->covers_full}};
}

std::optional<ResolvedBudget> budget_from(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return ResolvedBudget{
      .requested = parse_budget(json.at("requested").get<std::string>()),
      .precision = parse_precision(json.value("precision", "fp32")),
      .params = json.at("params"),
      .bytes = json.at("bytes"),
      .covers_full = json.value("covers_full", false),
      .target = json.value("for", "table") == target_name(BudgetFor::kFile) ? BudgetFor::kFile
                                                                            : BudgetFor::kTable,
      .table_bytes = json.value("table_bytes", json.at("bytes").get<std::uint64_t>())};
}

Json used_json(const FitReport::Used& used) {
  Json json = {{"params", used.params},
               {"share", used.share},
               {"bytes", used.bytes},
               {"file_bytes", used.file_bytes}};
  if (used.precision) json["precision"] = precision_text(*used.precision);
  if (used.file) {
    json["serving"] = used.file->serving;
    json["seen"] = used.file->with_seen;
  }
  return json;
}

FitReport::Used used_from(const Json& json) {
  FitReport::Used used = {json.at("params"), json.at("share"), json.at("bytes"),
                          json.at("file_bytes"), precision_at(json)};
  if (const auto serving = optional_at<std::string>(json, "serving")) {
    used.file = FitReport::Used::File{*serving, json.at("seen").get<bool>()};
  }
  return used;
}

Json loss_json(const LossOptions& loss) {
  Json json = {{"kind", loss_name(loss.kind)}};
  if (loss.kind == LossKind::kSoftmax) json["temperature"] = loss.temperature;
  json["score"] = score_name(loss.score);
  if (loss.rate != 1) json["rate"] = loss.rate;
  return json;
}

LossOptions loss_from(const Json& json) {
  return {json.at("kind") == "softmax" ? LossKind::kSoftmax : LossKind::kBpr,
          json.value("temperature", 1.0),
          json.at("score") == "cosine" ? ScoreKind::kCosine : ScoreKind::kDot,
          json.value("rate", 1.0)};
}

Json trial_json(const FitReport::MeasuredPlan& trial) {
  Json json = {{"iteration", trial.iteration},
               {"strategy", trial.strategy},
               {"predicted", or_null(trial.predicted)},
               {"fitness", trial.fitness},
               {"user_share", trial.user_share},
               {"user_family", trial.user_family},
               {"item_family", trial.item_family},
               {"user_shape", trial.user_shape},
               {"item_shape", trial.item_shape},
               {"user_kept", trial.user_kept},
               {"item_kept", trial.item_kept},
               {"precision", precision_text(trial.precision)},
               {"form", form_name(trial.form)},
               {"steps", trial.steps},
               {"fold", trial.fold},
               {"loss", loss_json(trial.loss)},
               {"plan", or_null(trial.plan)},
               {"largest_size", trial.largest_size},
               {"seconds", trial.seconds}};
  if (trial.predictor_loss) json["predictor_loss"] = *trial.predictor_loss;
  return json;
}

FitReport::MeasuredPlan trial_from(const Json& json) {
  return {.iteration = json.at("iteration"),
          .strategy = json.at("strategy"),
          .predicted = optional_at<double>(json, "predicted"),
          .fitness = json.at("fitness"),
          .user_share = json.at("user_share"),
          .user_family = json.at("user_family"),
          .item_family = json.at("item_family"),
          .user_shape = json.at("user_shape"),
          .item_shape = json.at("item_shape"),
          .user_kept = json.value("user_kept", 1.0),
          .item_kept = json.value("item_kept", 1.0),
          .precision = precision_at(json).value_or(TablePrecision()),
          .form = json.value("form", "table") == form_name(StoredForm::kVectors)
                      ? StoredForm::kVectors
                      : StoredForm::kTable,
          .steps = json.value("steps", std::uint64_t{0}),
          .fold = json.value("fold", 0U),
          .loss = json.contains("loss") ? loss_from(json["loss"]) : LossOptions(),
          .plan = optional_at<std::uint64_t>(json, "plan"),
          .largest_size = json.at("largest_size"),
          .seconds = json.at("seconds"),
          .predictor_loss = optional_at<double>(json, "predictor_loss")};
}

Json loss_choice_json(const FitReport::Loss& loss) {
  Json json = loss_json(loss.chosen);
  json["trials"] = Json::array();
  for (const LossTrial& trial : loss.trials) {
    Json one = loss_json(trial.loss);
    one["validation"] = trial.score;
    json["trials"].push_back(std::move(one));
  }
  return json;
}

FitReport::Loss loss_choice_from(const Json& json) {
  FitReport::Loss loss = {loss_from(json), {}};
  for (const Json& trial : json.at("trials")) {
    loss.trials.push_back({loss_from(trial), trial.at("validation")});
  }
  return loss;
}

// The chosen plan as the report has it: the whole trial, or its label.
Json chosen_json(const FitReport& report) {
  const FitReport::Retrained& chosen = report.retrained.at(report.chosen);
  if (!chosen.iteration) return chosen.label;
  for (const FitReport::MeasuredPlan& trial : report.trials) {
    if (trial.iteration == *chosen.iteration) return trial_json(trial);
  }
  return nullptr;
}

Json retrained_json(const FitReport::Retrained& plan) {
  Json json;
  if (plan.iteration) {
    json["iteration"] = *plan.iteration;
  } else {
    json["plan"] = plan.label;
  }
  json["validation"] = metrics_json(plan.validation);
  if (plan.final_score) json["final_score"] = *plan.final_score;
  return json;
}

void read_choice(const Json& json, FitReport& report) {
  if (!json.contains("retrained")) return;
  const Json& chosen = json.at("chosen");
  for (const Json& one : json.at("retrained")) {
    FitReport::Retrained plan = {optional_at<std::uint32_t>(one, "iteration"),
                                 one.value("plan", ""), metrics_from(one.at("validation")),
                                 optional_at<double>(one, "final_score")};
    const bool is_chosen = plan.iteration ? chosen.at("iteration") == *plan.iteration
                                          : chosen.get<std::string>() == plan.label;
    if (is_chosen) report.chosen = report.retrained.size();
    report.retrained.push_back(std::move(plan));
  }
}

Json seconds_json(const FitReport::Seconds& seconds) {
  return {{"load", seconds.load},
          {"pretrain", seconds.pretrain},
          {"search", seconds.search},
          {"search_own", seconds.search_own},
          {"search_waited", seconds.search_waited},
          {"retrain", seconds.retrain},
          {"final", seconds.final_training},
          {"export", seconds.model_file},
          {"total", seconds.total}};
}

FitReport::Seconds seconds_from(const Json& json) {
  return {.load = json.at("load"),
          .pretrain = json.at("pretrain"),
          .search = json.at("search"),
          .search_own = json.at("search_own"),
          .search_waited = json.at("search_waited"),
          .retrain = json.at("retrain"),
          .final_training = json.at("final"),
          .model_file = json.at("export"),
          .total = json.at("total")};
}

// What was spent on the run, and on what machine.
void add_costs(const FitReport& report, Json& json) {
  json["interrupted"] = report.interrupted;
  json["trainings"] = {{"search", report.trainings.search}, {"retrain", report.trainings.retrain}};
  json["steps"] = {{"pretrain", report.steps.pretrain},
                   {"search", report.steps.search},
                   {"train", report.steps.train},
                   {"best", report.steps.best},
                   {"final", report.steps.final_training}};
  json["seconds"] = seconds_json(report.seconds);
  json["milliseconds"] = {{"train_step", report.milliseconds.train_step},
                          {"final_step", report.milliseconds.final_step},
                          {"measure", report.milliseconds.measure}};
  json["device"] = report.device;
  json["threads"] = report.threads;
  if (report.ranks > 1) json["ranks"] = report.ranks;
  json["peak_rss_bytes"] = report.peak_rss_bytes;
  json["versions"] = {{"bet", report.versions.bet}};
  if (!report.versions.commit.empty()) json["versions"]["commit"] = report.versions.commit;
  json["versions"]["torch"] = report.versions.torch;
  json["versions"]["kernels"] = report.versions.kernels;
}

void read_costs(const Json& json, FitReport& report) {
  report.interrupted = json.at("interrupted");
  const Json& trainings = json.at("trainings");
  report.trainings = {trainings.at("search"), trainings.at("retrain")};
  const Json& steps = json.at("steps");
  report.steps = {steps.at("pretrain"), steps.at("search"), steps.at("train"), steps.at("best"),
                  steps.at("final")};
  report.seconds = seconds_from(json.at("seconds"));
  const Json& milliseconds = json.at("milliseconds");
  report.milliseconds = {milliseconds.at("train_step"), milliseconds.at("final_step"),
                         milliseconds.at("measure")};
  report.device = json.at("device");
  report.threads = json.at("threads");
  report.ranks = json.value("ranks", 1U);
  report.peak_rss_bytes = json.at("peak_rss_bytes");
  const Json& versions = json.at("versions");
  report.versions = {versions.at("bet"), versions.value("commit", ""), versions.at("torch"),
                     versions.at("kernels")};
}

FitReport report_from(const Json& json) {
  FitReport report;
  report.data = data_from(json.at("dataset"));
  report.backbone = json.at("backbone");
  report.method = json.at("method");
  report.seed = json.at("seed");
  report.budget = budget_from(json.at("budget"));
  report.used = used_from(json.at("used"));
  report.validation = metrics_from(json.at("validation"));
  report.test = metrics_from(json.at("test"));
  if (json.contains("test_fp32")) report.as_trained = metrics_from(json["test_fp32"]);
  if (json.contains("full")) report.full_validation = metrics_from(json["full"].at("validation"));
  if (json.contains("loss")) report.loss = loss_choice_from(json["loss"]);
  report.planned_trials = optional_at<std::uint64_t>(json, "planned_trials");
  for (const Json& trial : json.at("trials")) report.trials.push_back(trial_from(trial));
  report.note = json.value("note", "");
  read_choice(json, report);
  read_costs(json, report);
  report.details = details_from(json);
  return report;
}

}  // namespace

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json report_json(const FitReport& report) {
  Json json = {{"dataset", data_json(report.data)},
               {"backbone", report.backbone},
               {"method", report.method},
               {"seed", report.seed},
               {"budget", budget_json(report.budget)},
               {"used", used_json(report.used)},
               {"validation", metrics_json(report.validation)},
               {"test", metrics_json(report.test)}};
  if (report.full_validation) {
    json["full"] = {{"validation", metrics_json(*report.full_validation)}};
  }
  if (report.loss) json["loss"] = loss_choice_json(*report.loss);
  if (report.planned_trials) json["planned_trials"] = *report.planned_trials;
  json["trials"] = Json::array();
  for (const FitReport::MeasuredPlan& trial : report.trials) {
    json["trials"].push_back(trial_json(trial));
  }
  if (!report.note.empty()) json["note"] = report.note;
  if (!report.retrained.empty()) {
    json["chosen"] = chosen_json(report);
    json["retrained"] = Json::array();
    for (const FitReport::Retrained& plan : report.retrained) {
      json["retrained"].push_back(retrained_json(plan));
    }
  }
  add_costs(report, json);
  if (report.as_trained) json["test_fp32"] = metrics_json(*report.as_trained);
  add_details(report.details, json);
  return json;
}

void write_report(const FitReport& report, const std::filesystem::path& path) {
  write_file(path, json_text(report_json(report), 2) + "\n");
}

FitReport read_report(const std::filesystem::path& path) {
  std::ifstream in(path);
  BET_CHECK(in.good(), path.string(), ": cannot open: ", system_message());
  try {
    return report_from(Json::parse(in));
  } catch (const Json::exception& error) {
    fail(path.string(), ": is not the report of a run: ", error.what());
  }
}

}  // namespace bet
