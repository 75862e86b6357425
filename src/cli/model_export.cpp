#include "cli/model_export.h"

#include "base/error.h"
#include "base/files.h"
#include "cli/model_evaluation.h"
#include "cli/report.h"
#include "model/backbone.h"
#include "model/dense_weights.h"
#include "model/executor.h"
#include "runtime/model_writer.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

// What is stored of a table, or of the vectors made of it.
struct StoredRows {
  at::Tensor values;   // float [users + items, columns]
  at::Tensor sizes;    // int16: values of each row, where its last one ends
  at::Tensor as_read;  // the values after rounding
  at::Tensor kept;     // float, as the values: 1 where one is kept; undefined: the first are
};

void round_rows(at::Tensor& values, const std::int16_t* sizes, Precision precision) {
  for (std::int64_t row = 0; row < values.size(0); ++row) {
    round_as_stored(
        {values.data_ptr<float>() + row * values.size(1), static_cast<std::size_t>(sizes[row])},
        precision);
  }
}

StoredRows rows_to_store(const Backbone& backbone, const ModelParameters& table,
                         const ExportChoice& choice) {
  StoredRows rows;
  rows.sizes = table.sizes[0].contiguous().clone();
  if (choice.materialised) {
    const at::Tensor vectors = backbone.ranking(table).vectors;
    // Without the padding, which is zero in every row.
    const at::Tensor used = vectors.ne(0).any(0).nonzero().squeeze(1);
    rows.values = vectors.index_select(1, used).contiguous();
    rows.sizes.fill_(static_cast<std::int16_t>(rows.values.size(1)));
  } else {
    rows.values = table.values.slice(1, 0, table.models[0].width).contiguous().clone();
    if (table.kept.defined()) {
      rows.kept = table.kept.slice(1, 0, table.models[0].width).contiguous();
    }
  }
  rows.as_read = rows.values.clone();
  round_rows(rows.as_read, rows.sizes.data_ptr<std::int16_t>(), choice.precision);
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

void add_facts(Facts& facts, const std::string& prefix, const Json& object) {
  if (!object.is_object()) return;
  for (const auto& [name, value] : object.items()) {
    if (value.is_number_integer()) {
      facts.emplace_back(prefix + name, value.get<std::int64_t>());
    } else if (value.is_number()) {
      facts.emplace_back(prefix + name, value.get<double>());
    } else if (value.is_string()) {
      facts.emplace_back(prefix + name, value.get<std::string>());
    }
  }
}

// What a run's report and options say, for the file.
Facts facts_of(const FitCommand& options, const Json& report) {
  Facts facts;
  facts.emplace_back("dataset.name", report["dataset"]["name"].get<std::string>());
  facts.emplace_back("dataset.hash", report["dataset"]["hash"].get<std::string>());
  facts.emplace_back("version", std::string(BET_VERSION));
  Json budget = report["budget"];
  if (budget.is_object()) budget.erase("precision");  // an option
  add_facts(facts, "budget.", budget);
  facts.emplace_back("used.params", report["used"]["params"].get<std::int64_t>());
  facts.emplace_back("seed", static_cast<std::int64_t>(options.seed));
  add_facts(facts, "validation.", report["validation"]);
  add_facts(facts, "test.", report["test"]);
  if (report.contains("test_fp32")) add_facts(facts, "test_fp32.", report["test_fp32"]);
  for (const ConfigEntry& entry : options.to_config()) {
    // What does not decide the result stays out: same seed, same bytes.
    if (entry.key == "data" || entry.key == "cache" || entry.key == "threads") continue;
    facts.emplace_back("option." + entry.key, entry.value);
  }
  return facts;
}

// Puts the file's own quality into the report, where it may differ from the trained model's: values
// are rounded, or vectors are propagated with more precise rows than in training.
void report_quality(const Model& file, const Dataset& ids, const Split& split,
                    const FitCommand& options, const ExportChoice& choice, Json& report) {
  if (report["test"].is_null()) return;
  const Json trained = report.contains("test_fp32") ? report["test_fp32"] : report["test"];
  report["test"] = trained;
  report.erase("test_fp32");
  const bool as_trained = choice.precision == Precision::kFloat32 && !choice.materialised &&
                          options.resolve().model.precision == RowPrecision::kFloat32;
  if (as_trained) return;
  report["test"] = metrics_json(evaluate_model_file(file, ids, split, options, at::kCPU));
  report["test_fp32"] = trained;
}

// The promise of a byte budget, on what is about to be written.
void check_bytes(std::uint64_t bytes, const FitCommand& options, const ExportChoice& choice,
                 const TableShape& shape) {
  if (options.budget.empty()) return;
  const Budget budget = parse_budget(options.budget);
  if (!budget.in_bytes()) return;
  BET_CHECK(bytes <= resolve_budget(budget, shape, choice.precision).bytes, "the ",
            choice.materialised ? "propagated vectors take " : "table takes ", bytes,
            " bytes, more than the run's --budget ", options.budget);
}

}  // namespace

ExportChoice export_choice(const FitCommand& options) {
  const BackboneKind& kind = find_backbone(options.backbone);
  return {.precision = *parse_precision(options.precision),
          .materialised = options.serving == "materialised" && kind.uses_graph,
          .layers_in_vector = kind.layers_in_vector};
}

std::uint64_t exported_table_bytes(const SizePlan& plan, const ExportChoice& choice) {
  if (!choice.materialised) return plan.stored_bytes(choice.precision);
  TableShape vectors = plan.shape();
  vectors.max_dim *= 1 + choice.layers_in_vector;
  const std::uint64_t width =
      plan.width() + std::uint64_t{choice.layers_in_vector} * plan.shape().max_dim;
  const std::uint64_t row = value_bytes(choice.precision, width) + scale_bytes(choice.precision);
  return table_bytes(0, vectors, choice.precision) + vectors.num_rows() * row;
}

void write_model_file(const std::filesystem::path& path, const Dataset& ids, const Split& split,
                      const FitCommand& options, const ModelParameters& table,
                      const ExportChoice& choice, Json& report) {
  const RetrainingOptions fit = options.resolve();
  const BackboneKind& kind = find_backbone(options.backbone);
  BET_CHECK(choice.with_seen || choice.materialised || !kind.uses_graph,
            "--without-seen needs --serving materialised: a file that is served by graph has to "
            "hold the interactions, which are the graph");
  ModelToWrite model;
  model.backbone = kind.id;
  model.serving = kind.uses_graph && !choice.materialised ? Serving::kGraph : Serving::kVectors;
  model.layers = model.serving == Serving::kGraph ? static_cast<std::uint8_t>(kind.layers) : 0;
  model.precision = choice.precision;
  model.max_dim = options.dim;

  const Graph graph = make_graph(split, fit.final_part);
  ModelOptions exact = fit.model;
  exact.precision = RowPrecision::kFloat32;
  const auto backbone = make_backbone(exact, graph);
  const StoredRows rows = rows_to_store(*backbone, table, choice);
  model.layout = rows.kept.defined() ? RowLayout::kMasked : RowLayout::kPrefix;
  ModelParameters as_read = table;  // what the reader will have
  if (!choice.materialised) {
    model.weights = weights_to_store(*backbone, as_read, choice.precision);
    as_read.values = table.values.clone();
    as_read.values.slice(1, 0, rows.values.size(1)).copy_(rows.as_read);
  }
  const at::Tensor vectors =
      model.serving == Serving::kGraph ? backbone->ranking(as_read).vectors : rows.as_read;
  const at::Tensor norms = vectors.slice(0, split.num_users()).norm(2, 1).contiguous();
  model.item_norms.assign(norms.data_ptr<float>(), norms.data_ptr<float>() + norms.numel());

  model.users = side_of(ids.users, rows, kind.tables, 0);
  model.items = side_of(ids.items, rows, kind.tables, split.num_users());
  if (choice.with_seen || model.serving == Serving::kGraph) {
    for (UserId user = 0; user < split.num_users(); ++user) {
      const std::span<const ItemId> items = items_of(split, fit.final_part, user);
      model.items_of.emplace_back(items.begin(), items.end());
    }
  }
  const std::string without_facts = encode_model(model);
  const Model stored =
      Model::from_bytes(std::as_bytes(std::span(without_facts)), Verify::kStructure);
  check_bytes(stored.summary().table_bytes, options, choice, options.shape_of(ids));
  report_quality(stored, ids, split, options, choice, report);
  model.facts = facts_of(options, report);
  const std::string bytes = encode_model(model);
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
  report["used"]["bytes"] = stored.summary().table_bytes;
  report["used"]["file_bytes"] = bytes.size();
  report["used"]["precision"] = precision_name(choice.precision);
}

}  // namespace bet
