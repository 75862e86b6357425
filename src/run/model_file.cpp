#include "run/model_file.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "model/backbone.h"
#include "model/dense_weights.h"
#include "model/quantised_rows.h"
#include "run/budget_promise.h"
#include "run/model_evaluation.h"
#include "run/model_facts.h"
#include "runtime/id_section.h"
#include "runtime/model_writer.h"
#include "train/loss_choice.h"
#include "train/retraining.h"

namespace bet {
namespace {

// What is stored of a table, or of the vectors made of it.
struct StoredRows {
  at::Tensor values;   // float [users + items, columns]
  at::Tensor sizes;    // int16: values of each row, where its last one ends
  at::Tensor as_read;  // the values after rounding
  at::Tensor kept;     // float, as the values: 1 where one is kept; undefined: the first are
};

// Rounds a row of which some values are kept; the others are not stored.
void round_kept(std::span<float> row, const float* kept, Precision precision) {
  std::vector<float> stored;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (kept[i] != 0) stored.push_back(row[i]);
  }
  round_as_stored(stored, precision);
  std::size_t next = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (kept[i] != 0) row[i] = stored[next++];
  }
}

at::Tensor rounded(const StoredRows& rows, std::int64_t num_users,
                   const TablePrecision& precision) {
  at::Tensor values = rows.values.clone();
  const auto* const sizes = rows.sizes.data_ptr<std::int16_t>();
  for (std::int64_t row = 0; row < values.size(0); ++row) {
    const Precision of_side = row < num_users ? precision.users : precision.items;
    const std::span<float> whole(values.data_ptr<float>() + row * values.size(1),
                                 static_cast<std::size_t>(sizes[row]));
    if (rows.kept.defined()) {
      round_kept(whole, rows.kept.data_ptr<float>() + row * rows.kept.size(1), of_side);
    } else {
      round_as_stored(whole, of_side);
    }
  }
  return values;
}

// The values to store, from which the writer makes those that are read back: as they were trained,
// where the file has their precision, else as training used them.
at::Tensor values_to_store(const ModelParameters& table, const ExportChoice& choice) {
  // Behind vectors, the table itself was used as it is.
  const bool as_trained = table.precisions.empty() || table.precisions[0] == choice.precision;
  return as_trained ? table.values : quantised_rows(table);
}

// The vectors of a model that was trained to store them: as they were trained, where the file has
// their precision, else as training used them.
StoredRows vectors_to_store(const Backbone& backbone, const ModelParameters& table,
                            const ExportChoice& choice) {
  ModelParameters as_they_are = table;
  if (table.precisions[0] == choice.precision) as_they_are.precisions = {TablePrecision()};
  StoredRows rows;
  rows.sizes = table.vector_sizes[0].contiguous().clone();
  rows.values =
      backbone.ranking(as_they_are).vectors.slice(1, 0, table.models[0].width).contiguous().clone();
  return rows;
}

StoredRows rows_to_store(const Backbone& backbone, const ModelParameters& table,
                         std::int64_t num_users, const ExportChoice& choice) {
  StoredRows rows;
  rows.sizes = table.sizes[0].contiguous().clone();
  if (choice.materialised && table.stores_vectors(0)) {
    rows = vectors_to_store(backbone, table, choice);
  } else if (choice.materialised) {
    const at::Tensor vectors = backbone.ranking(table).vectors;
    // Without the padding, which is zero in every row.
    const at::Tensor used = vectors.ne(0).any(0).nonzero().squeeze(1);
    rows.values = vectors.index_select(1, used).contiguous();
    rows.sizes.fill_(static_cast<std::int16_t>(rows.values.size(1)));
  } else {
    rows.values =
        values_to_store(table, choice).slice(1, 0, table.models[0].width).contiguous().clone();
    if (table.kept.defined()) {
      rows.kept = table.kept.slice(1, 0, table.models[0].width).contiguous();
    }
  }
  rows.as_read = rounded(rows, num_users, choice.precision);
  return rows;
}

// One side, from row `first` on, of a single model whose rows have `tables` embeddings.
SideToWrite side_of(const IdTable& ids, const StoredRows& rows, std::uint32_t tables,
                    std::int64_t first) {
  SideToWrite side;
  side.stride = static_cast<std::size_t>(rows.values.size(1));
  side.values = {rows.values.data_ptr<float>() + first * rows.values.size(1),
                 ids.size() * side.stride};
  const std::int16_t* const sizes = rows.sizes.data_ptr<std::int16_t>() + first;
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    side.ids.push_back(ids.name(i));
    const std::uint32_t size = static_cast<std::uint32_t>(sizes[i]) / tables;
    if (!rows.kept.defined()) {
      side.sizes.push_back(size);
      continue;
    }
    const float* const kept = rows.kept.data_ptr<float>() + (first + i) * rows.kept.size(1);
    std::vector<std::uint32_t>& columns = side.columns.emplace_back();
    for (std::uint32_t column = 0; column < size; ++column) {
      if (kept[column * tables] != 0) columns.push_back(column);
    }
    side.sizes.push_back(static_cast<std::uint32_t>(columns.size()));
  }
  return side;
}

// The dense weights for the file, and rounded as it stores them in `table`, which keeps its own.
std::vector<DenseWeights> weights_to_store(const Backbone& backbone, ModelParameters& table,
                                           Precision precision) {
  if (table.weights.defined()) table.weights = table.weights.clone();
  std::vector<DenseWeights> stored;
  for (const NamedWeights& named : backbone.named_weights(table)) {
    const at::Tensor flat = named.values.reshape({-1, named.values.size(-1)}).contiguous();
    DenseWeights one = {named.name,
                        static_cast<std::uint32_t>(flat.size(0)),
                        static_cast<std::uint32_t>(flat.size(1)),
                        {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()}};
    round_as_stored(one, precision);
    fill_weights(named.values, one.values);
    stored.push_back(std::move(one));
  }
  return stored;
}

// The interactions that the file has, by user.
std::vector<std::vector<std::uint32_t>> seen_items(const Split& split, TrainingPart part) {
  std::vector<std::vector<std::uint32_t>> items_by_user;
  for (UserId user = 0; user < split.num_users(); ++user) {
    const std::span<const ItemId> items = items_of(split, part, user);
    items_by_user.emplace_back(items.begin(), items.end());
  }
  return items_by_user;
}

// All of a file but its facts.
struct FileContents {
  StoredRows rows;  // which `model` refers to
  ModelToWrite model;
};

FileContents file_contents(const TrainedModel& trained, const ExportChoice& choice) {
  const FitOptions& options = trained.options;
  const BackboneKind& kind = find_backbone(options.backbone);
  FileContents contents;
  ModelToWrite& model = contents.model;
  model.backbone = kind.id;
  model.serving = kind.uses_graph && !choice.materialised ? Serving::kGraph : Serving::kVectors;
  model.layers = model.serving == Serving::kGraph ? static_cast<std::uint8_t>(kind.layers) : 0;
  model.precision = choice.precision.users;
  model.item_precision = choice.precision.items;
  model.score = options.score;
  model.max_dim = options.dim;

  const Graph graph = make_graph(trained.split, options.final_part);
  ModelOptions exact = retraining_options(options).model;
  exact.precision = RowPrecision::kFloat32;
  // Rows and vectors are stored as they are; whoever scores by cosines divides by their lengths.
  exact.losses[0].score = ScoreKind::kDot;
  const auto backbone = make_backbone(exact, graph);
  contents.rows = rows_to_store(*backbone, trained.parameters, trained.split.num_users(), choice);
  const StoredRows& rows = contents.rows;
  model.layout = rows.kept.defined() ? RowLayout::kMasked : RowLayout::kPrefix;
  ModelParameters as_read = trained.parameters;  // what the reader will have
  as_read.precisions.clear();                    // it has the rounded values themselves
  as_read.forms.clear();
  as_read.vector_sizes = as_read.vector_kept = at::Tensor();
  if (!choice.materialised) {
    model.weights = weights_to_store(
        *backbone, as_read, weight_precision(choice.precision.users, choice.precision.items));
    as_read.values = trained.parameters.values.clone();
    as_read.values.slice(1, 0, rows.values.size(1)).copy_(rows.as_read);
  }
  const at::Tensor vectors =
      model.serving == Serving::kGraph ? backbone->ranking(as_read).vectors : rows.as_read;
  const at::Tensor norms = vectors.slice(0, trained.split.num_users()).norm(2, 1).contiguous();
  model.item_norms.assign(norms.data_ptr<float>(), norms.data_ptr<float>() + norms.numel());

  model.users = side_of(trained.dataset.users, rows, kind.tables, 0);
  model.items = side_of(trained.dataset.items, rows, kind.tables, trained.split.num_users());
  if (choice.with_seen || model.serving == Serving::kGraph) {
    model.items_of = seen_items(trained.split, options.final_part);
  }
  return contents;
}

// Puts the file's own quality into the report, and beside it the trained model's where the file
// does not have the values that were trained: they are rounded, or vectors are propagated with more
// precise rows than in training.
void report_quality(const Model& file, const TrainedModel& trained, const ExportChoice& choice,
                    FitReport& report) {
  if (report.test.num_users == 0) return;
  const Metrics as_trained = report.as_trained.value_or(report.test);
  report.test = as_trained;
  report.as_trained.reset();
  const ModelParameters& table = trained.parameters;
  const TablePrecision precision =
      table.precisions.empty() ? TablePrecision() : table.precisions[0];
  const bool full = choice.precision == TablePrecision();
  const bool is_form = choice.materialised == table.stores_vectors(0);
  const bool is_as_trained = choice.precision == precision && is_form &&
                             (full || !table.weights.defined()) &&
                             trained.options.rows == RowPrecision::kFloat32;
  if (is_as_trained && full) return;
  report.test =
      evaluate_model_file(file, trained.dataset, trained.split, trained.options, at::kCPU);
  if (!is_as_trained) report.as_trained = as_trained;
}

}  // namespace

namespace {

// A file of the plan as it will be but for its values, and longest in what options leave open.
struct SampleFile {
  std::string bytes;
  std::vector<std::string> user_ids;
  std::vector<std::string> item_ids;
  std::uint64_t interactions = 0;
};

// For texts of facts that may be longer, and sections that end on other bytes.
constexpr std::uint64_t kTextsAndPadding = 256;

SampleFile sample_file(const Dataset& dataset, const Split& split, const FitOptions& options,
                       const SizePlan& plan, bool with_seen) {
  const ModelOptions model = retraining_options(options).model;
  const Graph graph = make_graph(split, options.final_part);
  const ModelParameters table = make_backbone(model, graph)->initial(std::span(&plan, 1), 1);
  FitOptions most = options;
  most.materialised = plan.form() == StoredForm::kVectors || serves_vectors(options);
  // Lengths take most where scores are cosines.
  const BackboneKind& kind = find_backbone(options.backbone);
  const bool tries_cosines =
      options.loss == LossSetting::kAuto && kind.dot_product && !has_fast_loss(plan, kind);
  const ScoreKind score = tries_cosines ? ScoreKind::kCosine : options.score;
  most = with_loss(most, {LossKind::kSoftmax, 1.0 / 3, score});
  ExportChoice choice = export_choice(most, plan.precision(), plan.form());
  choice.with_seen = with_seen;
  FileContents contents = file_contents({dataset, split, most, table}, choice);
  FitReport report;
  report.data.name = dataset.name;
  report.data.hash = std::string(32, '0');
  report.data.text_ids = dataset.text_ids;
  most.budget->text = std::to_string(std::numeric_limits<std::uint64_t>::max()) + "B";
  report.budget = ResolvedBudget{.requested = *most.budget};
  report.validation.num_users = report.test.num_users = 1;
  report.full_validation = report.validation;
  const bool rounded = serves_vectors(options) && !trains_vectors(options);
  if (rounded || table.weights.defined()) report.as_trained = report.test;
  contents.model.facts = facts_of(most, report);
  SampleFile file = {encode_model(contents.model), std::move(contents.model.users.ids),
                     std::move(contents.model.items.ids)};
  for (const std::vector<std::uint32_t>& items : contents.model.items_of) {
    file.interactions += items.size();
  }
  return file;
}

// Weights are largest beside a table of all columns. What else there is does not depend on the
// columns, and few take least time and memory. Rows of one size are in the order of their
// frequency, in which interactions take least; sizes that do not follow it bring rows into any
// order, the more so the more sizes there are.
SizePlan plan_of_much_beside_its_table(const FitOptions& options, const TableShape& shape) {
  const std::uint32_t least = std::max(shape.min_dim, 1U);
  if (!method_of(options).any_order) {
    return find_backbone(options.backbone).weights.empty()
               ? equal_plan(shape, shape.total_size(least) * shape.tables)
               : full_plan(shape);
  }
  RandomStream random(1, "order of rows");
  std::vector<std::uint16_t> sizes(shape.num_rows());
  for (std::uint16_t& size : sizes) {
    size = static_cast<std::uint16_t>(least + random.below(shape.max_dim - least + 1));
  }
  sizes.front() = static_cast<std::uint16_t>(shape.max_dim);
  return {shape, sizes};
}

}  // namespace

std::uint64_t most_file_bytes(const Dataset& dataset, const Split& split, const FitOptions& options,
                              const SizePlan& plan, bool with_seen) {
  return sample_file(dataset, split, options, plan, with_seen).bytes.size() + kTextsAndPadding;
}

std::uint64_t most_bytes_beside_table(const Dataset& dataset, const Split& split,
                                      const FitOptions& options, const TableShape& shape,
                                      StoredForm form, bool with_seen) {
  const Precision precision = options.precision.value_or(Precision::kInt1);
  const SizePlan plan =
      plan_of_much_beside_its_table(options, shape).with_precision(precision).with_form(form);
  const SampleFile file = sample_file(dataset, split, options, plan, with_seen);
  const Model stored = Model::from_bytes(std::as_bytes(std::span(file.bytes)), Verify::kStructure);
  // The order of rows is the plan's. Ids have a bound that holds in any order. Interactions may
  // take a hundredth of a byte more each in another order of its kind.
  std::uint64_t more = kTextsAndPadding + file.interactions / 100 + most_id_bytes(file.user_ids) +
                       most_id_bytes(file.item_ids);
  for (const Model::Part& part : stored.parts()) {
    if (part.name.ends_with(" ids")) more -= part.bytes;
  }
  return file.bytes.size() - stored.summary().table_bytes + more;
}

void check_file_limits(const Dataset& dataset) {
  // Sections of ids and interactions have 32-bit offsets; in the form "bytes", which the writer
  // makes of every data set and leaves where "bits" is smaller, an interaction takes a byte at
  // least.
  constexpr std::uint64_t kMostBytes = 0xffffffffU;
  const auto check = [&](const char* what, std::uint64_t bytes) {
    BET_CHECK(bytes <= kMostBytes, dataset.name, ": ", what, " take ", bytes,
              " bytes or more, a model file has room for ", kMostBytes);
  };
  const auto id_bytes = [](const IdTable& ids) {
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < ids.size(); ++i) bytes += ids.name(i).size();
    return bytes;
  };
  check("the ids of its users", id_bytes(dataset.users));
  check("the ids of its items", id_bytes(dataset.items));
  check("its interactions", dataset.num_interactions());
}

void write_model_file(const std::filesystem::path& path, const TrainedModel& trained,
                      const ExportChoice& choice, FitReport& report) {
  BET_CHECK(
      choice.with_seen || choice.materialised ||
          !find_backbone(trained.options.backbone).uses_graph,
      "--without-seen needs --serving materialised: a file that is served by graph has to hold the "
      "interactions, which are the graph");
  FileContents contents = file_contents(trained, choice);
  ModelToWrite& model = contents.model;
  const std::string without_facts = encode_model(model);
  const Model stored =
      Model::from_bytes(std::as_bytes(std::span(without_facts)), Verify::kStructure);
  const std::uint64_t table_bytes = stored.summary().table_bytes;
  report_quality(stored, trained, choice, report);
  model.facts = facts_of(trained.options, report);
  const std::string bytes = encode_model(model);
  check_file_fits(table_bytes, bytes.size(), trained.options, choice,
                  table_shape(trained.options, trained.dataset));
  write_file(path, bytes);
  report.used.bytes = table_bytes;
  report.used.file_bytes = bytes.size();
  report.used.precision = choice.precision;
  report.used.file =
      FitReport::Used::File{std::string(stored.summary().serving), !model.items_of.empty()};
}

}  // namespace bet
