#include "run/option_table.h"

#include <algorithm>
#include <ranges>

#include "base/backbone_traits.h"
#include "base/error.h"
#include "search/method.h"

namespace bet {

template <>
struct OptionText<Budget> {
  static constexpr OptionType kType = OptionType::kText;
  static Budget parse(const std::string& text) {
    try {
      return parse_budget(text);
    } catch (const Error& error) {
      fail_as(ErrorKind::kBudget, error.what());
    }
  }
  static std::optional<std::string> format(const Budget& budget) { return budget.text; }
};

namespace {

using Row = FitOptions;
using Table = std::vector<Option<Row>>;

// As many rows of the data's options as are set in every run; the others follow at the end.
constexpr std::size_t kDataRowsSetAlways = 6;

OptionAbout method_about(const char* name, std::string help, Affects affects = Affects::kResult) {
  return {name, "Budget and method", affects, std::move(help)};
}

OptionAbout training_about(const char* name, const char* help) {
  return {name, "Training", Affects::kPretrained, help};
}

OptionAbout file_about(const char* name, const char* help) {
  return {name, "Model file", Affects::kResult, help};
}

// "esapn, full": the methods that take a budget in this way.
std::string names_of(BudgetUse use) {
  std::string names;
  for (const MethodKind* kind : methods()) {
    if (kind->budget != use) continue;
    names += (names.empty() ? "" : ", ") + std::string(kind->name);
  }
  return names;
}

void add_method_rows(Table& table) {
  std::vector<std::string> names;
  std::string help;
  for (const MethodKind* kind : methods()) {
    names.emplace_back(kind->name);
    help += (help.empty() ? "" : ", ") + std::string(kind->name) + " (" + std::string(kind->about) +
            ")";
  }
  table.push_back(make_option<Row>(
                      method_about("method", help), [](auto& o) -> auto& { return o.method; })
                      .one_of(std::move(names)));
  std::vector<std::string> backbone_choices;
  for (const BackboneKind* kind : backbones()) backbone_choices.emplace_back(kind->name);
  table.push_back(make_option<Row>(
                      method_about("backbone", "one of " + backbone_names(), Affects::kPretrained),
                      [](auto& o) -> auto& { return o.backbone; })
                      .one_of(std::move(backbone_choices)));
  table.push_back(make_choice<Row, Effort>(
      method_about("effort", "quick, normal or thorough: sets what is not given"),
      {{"quick", Effort::kQuick}, {"normal", Effort::kNormal}, {"thorough", Effort::kThorough}},
      [](auto& o) -> auto& { return o.effort; }));
}

// "own" and "shared" are what there was before pools of several sizes.
Option<Row> negatives_row() {
  const OptionAbout about = training_about(
      "negatives",
      "own: one for each pair; 32 (or shared), 64 .. 512: a pool for every block of as many pairs");
  return {.name = about.name,
          .group = about.group,
          .affects = about.affects,
          .help = about.help,
          .set =
              [](Row& options, const std::string& text) {
                options.negatives = text == "own"      ? 1
                                    : text == "shared" ? kPool
                                                       : OptionText<std::uint32_t>::parse(text);
              },
          .get = [](const Row& options) -> std::optional<std::string> {
            if (!options.negatives) return std::nullopt;
            if (*options.negatives == 1) return "own";
            return *options.negatives == kPool ? "shared" : std::to_string(*options.negatives);
          }};
}

void add_loss_rows(Table& table) {
  table.push_back(
      make_choice<Row, LossSetting>(
          training_about("loss",
                         "bpr, softmax (of a positive among shared negatives), or auto: plans are "
                         "searched by bpr, and the chosen one is trained by the best of both"),
          {{"bpr", LossSetting::kBpr},
           {"softmax", LossSetting::kSoftmax},
           {"auto", LossSetting::kAuto}},
          [](auto& o) -> auto& { return o.loss; })
          .before("bpr"));
  table.push_back(make_option<Row>(
      training_about("temperature", "that scores are divided by in the softmax (default 1)"),
      [](auto& o) -> auto& { return o.temperature; }));
  table.push_back(
      make_choice<Row, ScoreKind>(
          training_about("score", "dot or cosine: how two vectors make a score; not for ncf"),
          {{"dot", ScoreKind::kDot}, {"cosine", ScoreKind::kCosine}},
          [](auto& o) -> auto& { return o.score; })
          .before("dot"));
}

void add_schedule_rows(Table& table) {
  table.push_back(make_option<Row>(
                      training_about("schedule", "fast or paper (default: the effort's)"),
                      [](auto& o) -> auto& { return o.schedule; })
                      .one_of({"fast", "paper"}));
  table.push_back(make_choice<Row, BatchKind>(
      training_about("batches", "users or interactions: what batches draw uniformly"),
      {{"users", BatchKind::kUsers}, {"interactions", BatchKind::kInteractions}},
      [](auto& o) -> auto& { return o.batches; }));
  table.push_back(negatives_row());
  table.push_back(make_option<Row>(
      training_about("learning-rate", "learning rate of the first step"),
      [](auto& o) -> auto& { return o.learning_rate; }));
  table.push_back(make_option<Row>(
      training_about("max-steps", "most steps of a training"),
      [](auto& o) -> auto& { return o.max_steps; }));
  table.push_back(make_option<Row>(
      training_about("measure-steps", "steps between measurements"),
      [](auto& o) -> auto& { return o.measure_steps; }));
  table.push_back(make_choice<Row, RowPrecision>(
      training_about("rows", "fp32 or bf16: rows between the layers of a graph backbone"),
      {{"fp32", RowPrecision::kFloat32}, {"bf16", RowPrecision::kBfloat16}},
      [](auto& o) -> auto& { return o.rows; }));
}

void add_file_rows(Table& table) {
  std::vector<std::pair<std::string, std::optional<Precision>>> precisions = {
      {"auto", std::nullopt}};
  for (const std::string_view name : kPrecisionNames) {
    precisions.emplace_back(name, *parse_precision(name));
  }
  table.push_back(make_choice<Row, std::optional<Precision>>(
      file_about("precision",
                 "of the rows: fp32, fp16, or int8, int4, int3, int2, ternary, int1, in which they "
                 "are also trained; auto: chosen with the plan for a budget in bytes, else fp32"),
      precisions, [](auto& o) -> auto& { return o.precision; }));
  table.push_back(
      make_choice<Row, std::optional<bool>>(
          file_about("serving",
                     "graph: the file has table and graph; materialised: the propagated "
                     "vectors; auto: the better one for a budget of the whole file, "
                     "else graph"),
          {{"auto", std::nullopt}, {"graph", false}, {"materialised", true}},
          [](auto& o) -> auto& { return o.materialised; })
          .before("graph"));
  table.push_back(
      make_choice<Row, SeenItems>(
          file_about("seen",
                     "keep or drop: whether the file has the items that users have, which are then "
                     "not recommended to them; auto: it has, unless the budget is too small"),
          {{"auto", SeenItems::kAuto}, {"keep", SeenItems::kKeep}, {"drop", SeenItems::kDrop}},
          [](auto& o) -> auto& { return o.seen; })
          .before("auto"));
  table.push_back(make_choice<Row, TrainingPart>(
      file_about("final", "what the final model is trained on"),
      {{"train", TrainingPart::kTrain},
       {"train+val", TrainingPart::kTrainAndValidation},
       {"all", TrainingPart::kAll}},
      [](auto& o) -> auto& { return o.final_part; }));
}

void add_model_rows(Table& table) {
  table.push_back(
      make_option<Row>(
          training_about("device", "cpu or cuda"), [](auto& o) -> auto& { return o.device; })
          .one_of({"cpu", "cuda"}));
  table.push_back(
      make_option<Row>(
          training_about("dim", "full embedding size"), [](auto& o) -> auto& { return o.dim; })
          .within(1, largest_dim(1)));
  table.push_back(make_option<Row>(
                      method_about("min-dim",
                                   "smallest embedding size; 0 needs a graph backbone (default 0 "
                                   "for bet with one, otherwise 1)"),
                      [](auto& o) -> auto& { return o.min_dim; })
                      .within(0, largest_dim(1)));
  table.push_back(make_option<Row>(
      training_about("seed", "seed of everything but the split"),
      [](auto& o) -> auto& { return o.seed; }));
  table.push_back(make_option<Row>(
                      {"threads", "Run", Affects::kNothing, "0: one per core"},
                      [](auto& o) -> auto& { return o.threads; })
                      .within(0, 4096));
  table.push_back(make_option<Row>(
      training_about("patience",
                     "measurements without a better one that end a training of --schedule paper"),
      [](auto& o) -> auto& { return o.patience; }));
  table.push_back(make_option<Row>(
      training_about("batch-size", "positive pairs of a step"),
      [](auto& o) -> auto& { return o.batch_size; }));
  table.push_back(make_choice<Row, std::optional<BudgetFor>>(
                      method_about("budget-for",
                                   "file or table: what an amount of bytes is for (default file); "
                                   "other budgets are for the table"),
                      {{"file", BudgetFor::kFile}, {"table", BudgetFor::kTable}},
                      [](auto& o) -> auto& { return o.budget_for; })
                      .before("table"));
  table.push_back(make_option<Row>(
      method_about("budget", "5%, 450000p, 1.8MB, 2MiB or 5%B; " + names_of(BudgetUse::kCap) +
                                 ": optional; " + names_of(BudgetUse::kNone) +
                                 ": cannot be given one"),
      [](auto& o) -> auto& { return o.budget; }));
}

// Rows of the methods, an option that two of them have once. A method that does not have an option
// is not affected by it. The search comes last: this is the order in runs of earlier versions.
void add_search_rows(Table& table) {
  Table rows;
  for (const MethodKind* kind : methods() | std::views::reverse) {
    if (kind->options == nullptr) continue;
    for (const Option<MethodOptions>& own : kind->options()) {
      const auto found = std::find_if(rows.begin(), rows.end(),
                                      [&](const auto& row) { return row.name == own.name; });
      const std::string help = std::string(kind->name) + ": " + own.help;
      if (found != rows.end()) {
        found->help += "; " + help;
        continue;
      }
      Option<Row> row = lift_option<Row>(
          own, [](auto& o) -> auto& { return o.search; });
      row.help = help;
      row.get = [get = row.get, name = own.name](const Row& options) {
        const MethodKind& method = method_of(options);
        if (method.options == nullptr) return std::optional<std::string>();
        for (const Option<MethodOptions>& option : method.options()) {
          if (option.name == name) return get(options);
        }
        return std::optional<std::string>();
      };
      rows.push_back(std::move(row));
    }
  }
  table.insert(table.end(), rows.begin(), rows.end());
}

Table make_table() {
  Table table;
  const std::vector<Option<DataOptions>>& data = data_option_table();
  const auto add_data_rows = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      table.push_back(lift_option<Row>(
          data[i], [](auto& o) -> auto& { return o.data; }));
    }
  };
  add_data_rows(0, kDataRowsSetAlways);
  add_method_rows(table);
  add_schedule_rows(table);
  add_loss_rows(table);
  add_file_rows(table);
  add_model_rows(table);
  add_search_rows(table);
  table.push_back(make_option<Row>(
      {"cache", "Run", Affects::kNothing, "folder that keeps pretrained models"},
      [](auto& o) -> auto& { return o.cache; }));
  table.push_back(make_choice<Row, Division>(
      {"divide", "Run", Affects::kNothing,
       "trainings or columns: what several processes that make one run divide, the trainings of "
       "--method bet or the columns of one table (docs/scale.md)"},
      {{"trainings", Division::kTrainings}, {"columns", Division::kColumns}},
      [](auto& o) -> auto& { return o.divide; }));
  add_data_rows(kDataRowsSetAlways, data.size());
  return table;
}

}  // namespace

const std::vector<Option<FitOptions>>& fit_option_table() {
  static const Table table = make_table();
  return table;
}

Config to_config(const FitOptions& options) {
  const FitOptions resolved = with_defaults(options);
  Config config;
  for (const Option<FitOptions>& option : fit_option_table()) {
    if (const std::optional<std::string> value = option.get(resolved)) {
      config.push_back({option.name, *value, option.type == OptionType::kText, option.affects,
                        value == option.implied});
    }
  }
  return config;
}

FitOptions stored_options(const Config& entries) {
  FitOptions options;
  for (const Option<FitOptions>& option : fit_option_table()) {
    if (option.implied) option.set(options, *option.implied);
  }
  Config known = entries;
  for (ConfigEntry& entry : known) {
    // The efforts of earlier versions; what it set is stored as well.
    if (entry.key == "effort" && entry.value == "paper") entry.value = "thorough";
  }
  return options_from(known, std::move(options));
}

Config deciding_options(const FitOptions& options) {
  Config config = to_config(options);
  std::erase_if(config, [](const ConfigEntry& entry) {
    return entry.affects == Affects::kNothing || entry.implied;
  });
  return config;
}

FitOptions options_from(const Config& entries, FitOptions options) {
  const Table& table = fit_option_table();
  for (const ConfigEntry& entry : entries) {
    const auto option = std::find_if(table.begin(), table.end(),
                                     [&](const Option<Row>& one) { return one.name == entry.key; });
    BET_CHECK(option != table.end(), "unknown option ", in_quotes(entry.key));
    try {
      option->set(options, entry.value);
    } catch (const Error& error) {
      fail("--", entry.key, ": ", error.what());
    }
  }
  return options;
}

}  // namespace bet
