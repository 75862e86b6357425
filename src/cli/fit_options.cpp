#include "cli/fit_options.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"

namespace bet {
namespace {

constexpr std::uint32_t kMostColumns = 0x7fff;  // of a row

struct Effort {
  std::string_view name;
  std::string_view schedule;
  std::uint32_t patience;
  std::uint32_t iterations;
  std::uint32_t candidates;
  std::uint32_t finetune_epochs;
  std::uint32_t retrain_top;
  bool paper_probes;  // as METHOD section 5 has them; else with the training's batches
  std::optional<std::uint32_t> ciess_trainings;  // none: all of them
};

// DESIGN gives `paper` the paper's schedule; `fast` is as good or better, fifty times faster, and
// leaves the time to the probes.
constexpr Effort kEfforts[] = {{"quick", "fast", 1, 8, 50, 2, 2, false, 33},
                               {"normal", "fast", 2, 30, 100, 5, 3, false, {}},
                               {"paper", "fast", 3, 50, 100, 10, 5, true, {}}};

const Effort& find_effort(const std::string& name) {
  for (const Effort& effort : kEfforts) {
    if (effort.name == name) return effort;
  }
  fail("unknown effort ", in_quotes(name));
}

TrainingPart parse_part(const std::string& name) {
  if (name == "train") return TrainingPart::kTrain;
  return name == "all" ? TrainingPart::kAll : TrainingPart::kTrainAndValidation;
}

// Of the methods that take a budget in this way: "esapn, full".
std::string names_of(BudgetUse use) {
  std::string names;
  for (const MethodKind* kind : methods()) {
    if (kind->budget != use) continue;
    names += (names.empty() ? "" : ", ") + std::string(kind->name);
  }
  return names;
}

std::string shortest(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", value);
  for (int digits = 1; digits < 17; ++digits) {
    char shorter[32];
    std::snprintf(shorter, sizeof(shorter), "%.*g", digits, value);
    if (std::stod(shorter) == value) return shorter;
  }
  return text;
}

// "5%" for "5 %", so that one budget has one name. What is no budget is refused later, as an error
// and not as usage.
std::string usual_budget(const std::string& text) {
  try {
    return parse_budget(text).text;
  } catch (const Error&) {
    return text;
  }
}

}  // namespace

void ProcessOptions::add_to(CLI::App& command) {
  command.add_option("--threads", threads, "0: one per core")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_flag("--json", json, "print report.json to stdout");
  command.add_flag("--quiet", quiet, "no progress on stderr");
}

void FitCommand::add_to(CLI::App& command) {
  data.add_to(command);
  command
      .add_option("--budget", budget,
                  "5%, 450000p, 1.8MB or 2MiB; " + names_of(BudgetUse::kCap) + ": optional; " +
                      names_of(BudgetUse::kNone) + ": cannot be given one")
      ->transform(usual_budget);
  std::vector<std::string> method_names = {"bet"};
  std::string about = "bet (search)";
  for (const MethodKind* other : methods()) {
    method_names.emplace_back(other->name);
    about += ", " + std::string(other->name) + " (" + std::string(other->about) + ")";
  }
  command.add_option("--method", method, about)
      ->check(CLI::IsMember(method_names))
      ->capture_default_str();
  command.add_option("--iterations", iterations, "plans that the search probes, or ciess trains")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--candidates", candidates, "plans drawn for each to choose from")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--finetune-epochs", finetune_epochs, "epochs of a probe")
      ->check(CLI::Range(1, 100'000));
  command
      .add_option("--retrain-top", retrain_top,
                  "best plans that are trained from scratch, beside that of equal sizes")
      ->check(CLI::Range(1, 1'000));
  command.add_option("--selection", selection, "how plans are chosen: deepsets, simple or random")
      ->check(CLI::IsMember({"deepsets", "simple", "random"}))
      ->capture_default_str();
  command
      .add_option("--user-share", user_share,
                  "sided: users' share of the budget (default: the best on validation)")
      ->check(CLI::Range(0.0, 1.0));
  command.add_option("--memory-weight", memory_weight, "ciess: lambda, of the sizes in the reward")
      ->check(CLI::Range(0.0, 1000.0));
  command.add_option("--cache", cache, "folder that keeps pretrained models");
  std::vector<std::string> names;
  for (const BackboneKind* kind : backbones()) names.emplace_back(kind->name);
  command.add_option("--backbone", backbone, "one of " + backbone_names())
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  command.add_option("--effort", effort, "quick, normal or paper: sets what is not given")
      ->check(CLI::IsMember({"quick", "normal", "paper"}))
      ->capture_default_str();
  command.add_option("--schedule", schedule, "fast or paper (default: the effort's)")
      ->check(CLI::IsMember({"fast", "paper"}));
  command.add_option("--batch-size", batch_size, "positive pairs of a step");
  command.add_option("--batches", batches, "users or interactions: what batches draw uniformly")
      ->check(CLI::IsMember({"users", "interactions"}));
  command
      .add_option("--negatives", negatives, "own: one for each pair; shared: 32 for every 32 pairs")
      ->check(CLI::IsMember({"own", "shared"}));
  command.add_option("--learning-rate", learning_rate, "of the first step");
  command.add_option("--patience", patience,
                     "measurements without a better one that end a training of --schedule paper");
  command.add_option("--max-steps", max_steps, "most steps of a training");
  command.add_option("--measure-steps", measure_steps, "steps between measurements");
  command.add_option("--rows", rows, "fp32 or bf16: rows between the layers of a graph backbone")
      ->check(CLI::IsMember({"fp32", "bf16"}))
      ->capture_default_str();
  command.add_option("--precision", precision, "of the model file: fp32, fp16, int8 or int4")
      ->check(CLI::IsMember({"fp32", "fp16", "int8", "int4"}))
      ->capture_default_str();
  command
      .add_option("--serving", serving,
                  "graph: the file has table and graph; materialised: the propagated vectors")
      ->check(CLI::IsMember({"graph", "materialised"}))
      ->capture_default_str();
  command.add_option("--final", final_part, "what the final model is trained on")
      ->check(CLI::IsMember({"train", "train+val", "all"}))
      ->capture_default_str();
  command.add_option("--device", device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command.add_option("--dim", dim, "full embedding size")
      ->check(CLI::Range(1U, kMostColumns))
      ->capture_default_str();
  command
      .add_option("--min-dim", min_dim,
                  "smallest embedding size; 0 needs a graph backbone (default 0 for bet with one, "
                  "otherwise 1)")
      ->check(CLI::Range(0U, kMostColumns));
  command.add_option("--seed", seed, "seed of everything but the split")->capture_default_str();
  command.add_option("--out", out,
                     "run folder (default runs/<data>-<backbone>-<method>-<budget>-<seed>, and "
                     "behind it what is not the default of split, filters, precision, serving)");
  command.add_option("--config", config, "TOML file of these options; the command line wins");
  command.add_flag("--overwrite", overwrite, "replace an existing run folder");
  command.add_flag("--resume", resume)->group("");  // these two for `bet resume`
  command.add_flag("--continue-search", continue_search)->group("");
  process.add_to(command);
}

std::filesystem::path FitCommand::folder() const {
  if (!out.empty()) return out;
  const std::string size = !budget.empty() ? budget : method == "full" ? "full" : "any";
  std::string name = dataset_name(data.path) + "-" + backbone + "-" + method + "-" + size + "-" +
                     std::to_string(seed);
  const auto add_if = [&](bool differs, const std::string& suffix) {
    if (differs) name += "-" + suffix;
  };
  const FitCommand usual;
  const ReadOptions& read = data.read;
  add_if(data.split != usual.data.split, data.split);
  add_if(data.split_seed != usual.data.split_seed, "split" + std::to_string(data.split_seed));
  if (read.min_rating) add_if(true, "rating" + shortest(*read.min_rating));
  add_if(read.min_user_inter != usual.data.read.min_user_inter,
         "users" + std::to_string(read.min_user_inter));
  add_if(read.min_item_inter != usual.data.read.min_item_inter,
         "items" + std::to_string(read.min_item_inter));
  add_if(precision != usual.precision, precision);
  add_if(serving != usual.serving, serving);
  return std::filesystem::path("runs") / name;
}

RetrainingOptions FitCommand::resolve() const {
  const BudgetUse use = kind() != nullptr ? kind()->budget : BudgetUse::kNeeded;
  BET_CHECK(!budget.empty() || use != BudgetUse::kNeeded, "--method ", method, " needs --budget");
  BET_CHECK(budget.empty() || use != BudgetUse::kNone, "--method ", method,
            " cannot be given --budget ", budget,
            ": it has no way to aim at a size and reports the one that it reaches");
  BET_CHECK(least_dim() <= dim, "--min-dim ", least_dim(), " is above --dim ", dim);
  const BackboneKind& base = find_backbone(backbone);
  BET_CHECK(least_dim() > 0 || base.uses_graph, "--min-dim 0 needs a graph: with ", backbone,
            " a user or an item without parameters has no score");
  BET_CHECK(std::uint64_t{dim} * base.tables <= kMostColumns, "--dim ", dim, " is too large for ",
            backbone, ", which has ", base.tables, " embeddings a row; at most ",
            kMostColumns / base.tables);
  const Effort& preset = find_effort(effort);
  RetrainingOptions options;
  options.schedule = named_schedule(schedule.empty() ? preset.schedule : schedule, backbone);
  BET_CHECK(!patience || !options.schedule.linear, "--patience ", patience.value_or(0),
            " is for --schedule paper; the learning rate of --schedule fast falls to zero, and "
            "always does so to the end");
  options.schedule.patience = patience.value_or(preset.patience);
  options.schedule.batch_size = batch_size.value_or(options.schedule.batch_size);
  options.schedule.learning_rate = learning_rate.value_or(options.schedule.learning_rate);
  options.schedule.max_steps = max_steps.value_or(options.schedule.max_steps);
  options.schedule.measure_steps = measure_steps.value_or(options.schedule.measure_steps);
  if (!batches.empty()) {
    options.schedule.batch_kind = batches == "users" ? BatchKind::kUsers : BatchKind::kInteractions;
  }
  if (!negatives.empty()) options.schedule.pool = negatives == "own" ? 1 : kPool;
  options.schedule.validate();
  options.model.backbone = backbone;
  options.model.seed = seed;
  options.model.dim = dim;
  options.model.precision = rows == "bf16" ? RowPrecision::kBfloat16 : RowPrecision::kFloat32;
  options.final_part = parse_part(final_part);
  return options;
}

FitCommand::SearchChoice FitCommand::resolve_search() const {
  const Effort& preset = find_effort(effort);
  SearchChoice choice;
  choice.options.num_iterations = iterations.value_or(preset.iterations);
  choice.options.num_candidates = candidates.value_or(preset.candidates);
  choice.options.selection = selection == "random"   ? Selection::kRandom
                             : selection == "simple" ? Selection::kSimple
                                                     : Selection::kDeepSets;
  choice.options.seed = seed;
  choice.probe_schedule =
      preset.paper_probes ? named_schedule("paper", backbone) : resolve().schedule;
  const double factor = preset.paper_probes ? find_backbone(backbone).paper_probe_epochs : 1;
  choice.finetune_epochs = finetune_epochs.value_or(
      static_cast<std::uint32_t>(factor * static_cast<double>(preset.finetune_epochs)));
  choice.retrain_top = retrain_top.value_or(preset.retrain_top);
  return choice;
}

MethodOptions FitCommand::resolve_method() const {
  return {.trainings = iterations ? iterations : find_effort(effort).ciess_trainings,
          .user_share = user_share,
          .memory_weight = memory_weight};
}

std::uint32_t FitCommand::least_dim() const {
  // The search sees plans with and without empty rows, and validation decides.
  const bool may_be_empty = kind() == nullptr && find_backbone(backbone).uses_graph;
  return min_dim.value_or(may_be_empty ? 0 : 1);
}

TableShape FitCommand::shape_of(const Dataset& dataset) const {
  TableShape shape{dataset.num_users(), dataset.num_items(), dim, least_dim(),
                   find_backbone(backbone).tables};
  if (kind() != nullptr) {
    shape.masks = kind()->masks;
    shape.min_dim = kind()->empty_rows ? 0 : std::max(least_dim(), kind()->least_size);
  }
  return shape;
}

std::filesystem::path FitCommand::cache_folder() const {
  if (!cache.empty()) return cache;
  if (const char* given = std::getenv("XDG_CACHE_HOME"); given != nullptr && *given != 0) {
    return std::filesystem::path(given) / "bet";
  }
  const char* home = std::getenv("HOME");
  return (home != nullptr ? std::filesystem::path(home) : std::filesystem::temp_directory_path()) /
         ".cache" / "bet";
}

Config FitCommand::to_config() const {
  const Schedule resolved = resolve().schedule;
  const std::string named = schedule.empty() ? std::string(find_effort(effort).schedule) : schedule;
  // A relative path would not be found again from another folder.
  const std::string path = data.path == "demo" || data.path == "-"
                               ? data.path
                               : std::filesystem::absolute(data.path).lexically_normal().string();
  Config config_entries = {
      {"data", path},
      {"format", data.read.hints.format.empty() ? "auto" : data.read.hints.format},
      {"split", data.split},
      {"split-seed", std::to_string(data.split_seed), false},
      {"min-user-inter", std::to_string(data.read.min_user_inter), false},
      {"min-item-inter", std::to_string(data.read.min_item_inter), false},
      {"method", method},
      {"backbone", backbone},
      {"effort", effort},
      {"schedule", named},
      {"batches", resolved.batch_kind == BatchKind::kUsers ? "users" : "interactions"},
      {"negatives", resolved.pool == 1 ? "own" : "shared"},
      {"learning-rate", shortest(resolved.learning_rate), false},
      {"max-steps", std::to_string(resolved.max_steps), false},
      {"measure-steps", std::to_string(resolved.measure_steps), false},
      {"rows", rows},
      {"precision", precision},
      {"serving", serving},
      {"final", final_part},
      {"device", device},
      {"dim", std::to_string(dim), false},
      {"min-dim", std::to_string(least_dim()), false},
      {"seed", std::to_string(seed), false},
      {"threads", std::to_string(process.threads), false},
  };
  const auto add_if = [&](const char* key, const std::string& value) {
    if (!value.empty()) config_entries.push_back({key, value});
  };
  if (!resolved.linear) {
    config_entries.push_back({"patience", std::to_string(resolved.patience), false});
  }
  if (resolved.batch_size > 0) {
    config_entries.push_back({"batch-size", std::to_string(resolved.batch_size), false});
  }
  add_if("budget", budget);
  const auto add_number = [&](const char* key, const std::optional<double>& value) {
    if (value) config_entries.push_back({key, shortest(*value), false});
  };
  add_number("user-share", user_share);
  add_number("memory-weight", memory_weight);
  if (const auto trainings = resolve_method().trainings; method == "ciess" && trainings) {
    config_entries.push_back({"iterations", std::to_string(*trainings), false});
  }
  if (method == "bet") {
    const SearchChoice search = resolve_search();
    config_entries.push_back({"iterations", std::to_string(search.options.num_iterations), false});
    config_entries.push_back({"candidates", std::to_string(search.options.num_candidates), false});
    config_entries.push_back({"finetune-epochs", std::to_string(search.finetune_epochs), false});
    config_entries.push_back({"retrain-top", std::to_string(search.retrain_top), false});
    config_entries.push_back({"selection", selection});
  }
  if (method == "bet" || kind()->pretrains) {
    config_entries.push_back(
        {"cache", std::filesystem::absolute(cache_folder()).lexically_normal().string()});
  }
  add_if("user-col", data.read.hints.user_col);
  add_if("item-col", data.read.hints.item_col);
  add_if("rating-col", data.read.hints.rating_col);
  add_if("time-col", data.read.hints.time_col);
  if (data.read.hints.no_header) config_entries.push_back({"no-header", "true", false});
  if (data.read.min_rating) {
    config_entries.push_back({"min-rating", shortest(*data.read.min_rating), false});
  }
  return config_entries;
}

FitCommand parse_fit_options(const Config& entries) {
  CLI::App parser;
  FitCommand options;
  options.add_to(parser);
  std::vector<std::string> arguments;
  for (const ConfigEntry& entry : entries) {
    arguments.push_back(entry.key == "data" ? entry.value : "--" + entry.key + "=" + entry.value);
  }
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  parser.parse(arguments);
  return options;
}

}  // namespace bet
