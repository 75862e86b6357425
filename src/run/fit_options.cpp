#include "run/fit_options.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/row_quantiser.h"
#include "search/method.h"

namespace bet {
namespace {

constexpr std::uint32_t kMostColumns = 0x7fff;  // of a row

// `fast` is as good as the paper's schedule or better, fifty times faster, and leaves the time to
// the probes (docs/results.md).
constexpr const char* kSchedule = "fast";

std::uint32_t patience_of(Effort effort) {
  switch (effort) {
    case Effort::kQuick:
      return 1;
    case Effort::kNormal:
      return 2;
    case Effort::kThorough:
      break;
  }
  return 3;
}

std::string absolute_cache(const std::string& given) {
  const auto folder = [&]() -> std::filesystem::path {
    if (!given.empty()) return given;
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != 0) {
      return std::filesystem::path(cache) / "bet";
    }
    const char* home = std::getenv("HOME");
    return (home != nullptr ? std::filesystem::path(home)
                            : std::filesystem::temp_directory_path()) /
           ".cache" / "bet";
  };
  return std::filesystem::absolute(folder()).lexically_normal().string();
}

void check_budget_use(const FitOptions& options, BudgetUse use) {
  BET_CHECK(options.budget || use != BudgetUse::kNeeded, "--method ", options.method,
            " needs --budget");
  BET_CHECK(!options.budget || use != BudgetUse::kNone, "--method ", options.method,
            " cannot be given --budget ", options.budget->text,
            ": it has no way to aim at a size and reports the one that it reaches");
}

void set_sizes(FitOptions& options, const MethodKind& method, const BackboneKind& backbone) {
  // The search measures plans with and without empty rows, and validation decides.
  const bool may_be_empty = method.empty_with_graph && backbone.uses_graph;
  options.min_dim = options.min_dim.value_or(may_be_empty ? 0 : 1);
  BET_CHECK(*options.min_dim <= options.dim, "--min-dim ", *options.min_dim, " is above --dim ",
            options.dim);
  BET_CHECK(*options.min_dim > 0 || backbone.uses_graph, "--min-dim 0 needs a graph: with ",
            options.backbone, " a user or an item without parameters has no score");
  const std::uint32_t most =
      std::min(largest_dim(backbone.file_version), kMostColumns / backbone.tables);
  BET_CHECK(options.dim <= most, "--dim ", options.dim, " is too large for ", options.backbone,
            ", whose model files have at most ", most);
}

void set_file(FitOptions& options, const MethodKind& method, const BackboneKind& backbone) {
  if (!options.budget) {
    options.budget_for.reset();
  } else {
    const bool amount = options.budget->unit == Budget::Unit::kBytes;
    options.budget_for = options.budget_for.value_or(amount ? BudgetFor::kFile : BudgetFor::kTable);
    BET_CHECK(amount || options.budget_for == BudgetFor::kTable, "--budget-for file needs an ",
              "amount of bytes such as 2MiB; --budget ", options.budget->text,
              " is a share or a number of parameters, of the table");
  }
  const bool drops = options.seen == SeenItems::kDrop && backbone.uses_graph;
  BET_CHECK(!drops || options.materialised.value_or(true), "--seen drop needs --serving ",
            "materialised: a file that is served by graph has to hold the interactions, which are "
            "the graph");
  if (drops) options.materialised = true;
  const bool chooses =
      options.budget_for == BudgetFor::kFile && backbone.trains_vectors && method.chooses_precision;
  if (!chooses) options.materialised = options.materialised.value_or(false);
}

// Parameters count the same in any precision, so that fp32 is best for a budget of them.
void set_precision(FitOptions& options) {
  if (!options.precision && (!options.budget || !options.budget->in_bytes())) {
    options.precision = Precision::kFloat32;
  }
  if (!serves_vectors(options) || trains_vectors(options)) return;
  if (!options.precision) options.precision = Precision::kInt8;
  BET_CHECK(!has_byte_scale(*options.precision), "--precision ", precision_name(*options.precision),
            " is trained as it is stored; with --serving materialised there are fp32, fp16, int8 "
            "and int4 for ",
            options.backbone, ", for --method ", options.method,
            " and for a budget of parameters, where vectors are rounded after training");
}

// With --loss auto: negatives of a pool for the softmax, at least (docs/studies/loss.md). BPR has
// those of --loss bpr, so that it comes to the same model where it is chosen.
constexpr std::uint32_t kAutoPool = 128;
// Steps of a falling rate, at least (docs/studies/schedule_length.md).
constexpr std::uint64_t kLongSteps = 800;

void set_schedule(FitOptions& options) {
  if (options.schedule.empty()) options.schedule = kSchedule;
  const Schedule schedule = named_schedule(options.schedule, options.backbone);
  BET_CHECK(!options.patience || !schedule.linear, "--patience ", options.patience.value_or(0),
            " is for --schedule paper; the learning rate of --schedule fast falls to zero, and "
            "always does so to the end");
  options.batches = options.batches.value_or(schedule.batch_kind);
  options.negatives = options.negatives.value_or(schedule.pool);
  if (options.loss == LossSetting::kSoftmax) options.temperature = options.temperature.value_or(1);
  options.learning_rate = options.learning_rate.value_or(schedule.learning_rate);
  // What there is to choose from needs a falling rate and shared negatives.
  if (options.loss == LossSetting::kAuto && (!schedule.linear || *options.negatives == 1)) {
    options.loss = LossSetting::kBpr;
  }
  options.max_steps =
      options.max_steps.value_or(std::max(schedule.max_steps, schedule.linear ? kLongSteps : 0));
  options.measure_steps = options.measure_steps.value_or(schedule.measure_steps);
  if (!schedule.linear) options.patience = options.patience.value_or(patience_of(options.effort));
  if (schedule.batch_size > 0) {
    options.batch_size = options.batch_size.value_or(schedule.batch_size);
  }
}

void check_loss(const FitOptions& options, const BackboneKind& backbone) {
  const std::uint32_t negatives = options.negatives.value();
  BET_CHECK(negatives == 1 || (negatives > 0 && negatives % kPool == 0 && negatives <= kMostPool),
            "--negatives ", negatives, ": there are own, and pools of 32, 64, 96 .. ", kMostPool);
  BET_CHECK(backbone.dot_product || negatives <= kPool, "--negatives ", negatives, ": ",
            options.backbone, " has own ones, or pools of ", kPool);
  BET_CHECK(backbone.dot_product || options.score == ScoreKind::kDot,
            "--score cosine: the scores of ", options.backbone, " are not those of two vectors");
  const bool softmax = options.loss == LossSetting::kSoftmax;
  BET_CHECK(!softmax || negatives > 1,
            "--loss softmax compares a positive with shared negatives; --negatives own has none");
  BET_CHECK(softmax || !options.temperature, "--temperature is for --loss softmax");
  BET_CHECK(options.loss != LossSetting::kAuto || options.score == ScoreKind::kDot,
            "--score cosine is for --loss bpr and softmax; --loss auto tries both kinds of score");
  BET_CHECK(!softmax || options.temperature.value() > 0, "--temperature ",
            options.temperature.value_or(0), " must be positive");
}

// Whether or not there are several processes: a run may be resumed by more.
void check_division(const FitOptions& options, const MethodKind& method,
                    const BackboneKind& backbone) {
  if (options.divide != Division::kColumns) return;
  const auto refuse = [](const auto&... why) { fail("--divide columns: ", why...); };
  if (!backbone.sums_columns) {
    refuse("--backbone ", options.backbone, " mixes columns; there are mf and lightgcn");
  }
  if (method.proposes_one_plan == nullptr || !method.proposes_one_plan(options.search)) {
    refuse("--method ", options.method,
           " has more to train than one plan; there are full, es, mr, and sided with --user-share");
  }
  if (options.loss == LossSetting::kAuto) refuse("--loss auto trains several models; name one");
  if (options.score != ScoreKind::kDot) refuse("--score must be dot");
  if (options.device != "cpu") refuse("--device must be cpu");
  if (!options.materialised) refuse("--serving auto trains several plans; name one");
  if (trains_vectors(options)) {
    refuse("--serving materialised trains vectors, which cannot be divided, for a budget in bytes");
  }
  if (!options.precision) refuse("--precision auto trains several plans; name fp32 or fp16");
  if (is_integer(usual_precision(options).users)) {
    refuse("--precision ", precision_name(*options.precision),
           " has one scale for all columns of a row; there are fp32 and fp16");
  }
}

}  // namespace

FitOptions with_defaults(FitOptions options) {
  const MethodKind& method = method_of(options);
  const BackboneKind& backbone = find_backbone(options.backbone);
  check_budget_use(options, method.budget);
  set_sizes(options, method, backbone);
  set_file(options, method, backbone);
  set_precision(options);
  set_schedule(options);
  check_loss(options, backbone);
  if (method.set_defaults != nullptr) {
    method.set_defaults(options.search, options.effort, backbone);
  }
  const bool caches = method.pretrains || options.loss == LossSetting::kAuto;
  options.cache = caches ? absolute_cache(options.cache) : "";
  retraining_options(options).schedule.validate();
  check_division(options, method, backbone);
  return options;
}

RetrainingOptions retraining_options(const FitOptions& resolved) {
  RetrainingOptions training;
  Schedule& schedule = training.schedule;
  schedule = named_schedule(resolved.schedule, resolved.backbone);
  // A linear decay runs to its end: it has no use for patience, which only has to be positive.
  schedule.patience = resolved.patience.value_or(patience_of(resolved.effort));
  schedule.batch_size = resolved.batch_size.value_or(schedule.batch_size);
  schedule.learning_rate = resolved.learning_rate.value();
  schedule.max_steps = resolved.max_steps.value();
  schedule.measure_steps = resolved.measure_steps.value();
  schedule.batch_kind = resolved.batches.value();
  schedule.pool = resolved.negatives.value();
  const bool softmax = resolved.loss == LossSetting::kSoftmax;
  training.model.losses = {{softmax ? LossKind::kSoftmax : LossKind::kBpr,
                            resolved.temperature.value_or(1), resolved.score}};
  if (resolved.loss == LossSetting::kAuto) {
    const bool pools = find_backbone(resolved.backbone).dot_product;
    if (pools) schedule.softmax_pool = std::max(schedule.pool, kAutoPool);
  }
  training.model.backbone = resolved.backbone;
  training.model.seed = resolved.seed;
  training.model.dim = resolved.dim;
  training.model.precision = resolved.rows;
  training.final_part = resolved.final_part;
  return training;
}

FitOptions search_options(FitOptions resolved) {
  if (resolved.loss == LossSetting::kAuto) resolved.loss = LossSetting::kBpr;
  resolved.max_steps = std::min(resolved.max_steps.value(),
                                named_schedule(resolved.schedule, resolved.backbone).max_steps);
  return resolved;
}

FitOptions with_loss(FitOptions options, const LossOptions& loss) {
  if (options.loss == LossSetting::kAuto) {
    options.negatives = retraining_options(options).schedule.pool_of(loss.kind);
  }
  const bool softmax = loss.kind == LossKind::kSoftmax;
  options.loss = softmax ? LossSetting::kSoftmax : LossSetting::kBpr;
  options.temperature = softmax ? std::optional(loss.temperature) : std::nullopt;
  options.score = loss.score;
  options.learning_rate = loss.rate * options.learning_rate.value();
  return options;
}

const MethodKind& method_of(const FitOptions& options) { return find_method(options.method); }

bool serves_vectors(const FitOptions& options) {
  return options.materialised.value_or(false) && find_backbone(options.backbone).uses_graph;
}

bool trains_vectors(const FitOptions& resolved) {
  const bool of_table = resolved.budget && !resolved.budget->in_bytes();
  return serves_vectors(resolved) && find_backbone(resolved.backbone).trains_vectors &&
         !method_of(resolved).masks && !of_table;
}

bool chooses_form(const FitOptions& resolved) { return !resolved.materialised; }

TablePrecision usual_precision(const FitOptions& resolved) {
  // Vectors that are rounded after training.
  if (serves_vectors(resolved) && !trains_vectors(resolved)) return {};
  return resolved.precision.value_or(kUsualLowPrecision);
}

TableShape table_shape(const FitOptions& resolved, const Dataset& dataset) {
  const MethodKind& method = method_of(resolved);
  const std::uint32_t least = std::max(resolved.min_dim.value(), method.least_size);
  return {.num_users = dataset.num_users(),
          .num_items = dataset.num_items(),
          .max_dim = resolved.dim,
          .min_dim = method.empty_rows ? 0 : least,
          .tables = find_backbone(resolved.backbone).tables,
          .masks = method.masks};
}

std::filesystem::path default_folder(const FitOptions& options) {
  const std::string size = options.budget             ? options.budget->text
                           : options.method == "full" ? "full"
                                                      : "any";
  std::string name = dataset_name(options.data.path) + "-" + options.backbone + "-" +
                     options.method + "-" + size + "-" + std::to_string(options.seed);
  const auto add_if = [&](bool differs, const std::string& suffix) {
    if (differs) name += "-" + suffix;
  };
  const FitOptions usual;
  const ReadOptions& read = options.data.read;
  add_if(options.data.split != usual.data.split, std::string(split_name(options.data.split)));
  add_if(options.data.split_seed != usual.data.split_seed,
         "split" + std::to_string(options.data.split_seed));
  if (read.min_rating) add_if(true, "rating" + shortest_text(*read.min_rating));
  add_if(read.min_user_inter != usual.data.read.min_user_inter,
         "users" + std::to_string(read.min_user_inter));
  add_if(read.min_item_inter != usual.data.read.min_item_inter,
         "items" + std::to_string(read.min_item_inter));
  const bool in_bytes = options.budget && options.budget->in_bytes();
  if (options.precision && (in_bytes || *options.precision != Precision::kFloat32)) {
    add_if(true, std::string(precision_name(*options.precision)));
  }
  add_if(options.budget && options.budget->unit == Budget::Unit::kBytes &&
             options.budget_for == BudgetFor::kTable,
         "table");
  add_if(options.materialised.value_or(false), "materialised");
  add_if(options.seen == SeenItems::kKeep, "seen");
  add_if(options.seen == SeenItems::kDrop, "unseen");
  return std::filesystem::path("runs") / name;
}

}  // namespace bet
