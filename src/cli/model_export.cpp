#include "cli/model_export.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "model/backbone.h"
#include "runtime/model_writer.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint8_t kLayers = 3;  // of LightGCN

// Rows [first, first + count) of a table of a single model.
SideToWrite side_of(const IdTable& ids, const at::Tensor& values, const std::int16_t* sizes,
                    std::int64_t first) {
  SideToWrite side;
  side.stride = static_cast<std::size_t>(values.size(1));
  side.values = {values.data_ptr<float>() + first * values.size(1), ids.size() * side.stride};
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    side.ids.push_back(ids.name(i));
    side.sizes.push_back(static_cast<std::uint32_t>(sizes[first + i]));
  }
  return side;
}

void round_rows(at::Tensor& values, const std::int16_t* sizes, Precision precision) {
  for (std::int64_t row = 0; row < values.size(0); ++row) {
    round_as_stored(
        {values.data_ptr<float>() + row * values.size(1), static_cast<std::size_t>(sizes[row])},
        precision);
  }
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

// The promise of a byte budget, on what is about to be written.
void check_bytes(const std::string& file, const FitCommand& options, const ExportChoice& choice,
                 const TableShape& shape) {
  if (options.budget.empty()) return;
  const Budget budget = parse_budget(options.budget);
  if (!budget.in_bytes()) return;
  const std::uint64_t bytes =
      Model::from_bytes(std::as_bytes(std::span(file)), Trust::kChecksums).summary().table_bytes;
  BET_CHECK(bytes <= resolve_budget(budget, shape, choice.precision).bytes, "the ",
            choice.materialised ? "propagated vectors take " : "table takes ", bytes,
            " bytes, more than the run's --budget ", options.budget);
}

}  // namespace

ExportChoice export_choice(const FitCommand& options) {
  return {*parse_precision(options.precision),
          options.serving == "materialised" && find_backbone(options.backbone).uses_graph};
}

std::uint64_t exported_table_bytes(const SizePlan& plan, const ExportChoice& choice) {
  if (!choice.materialised) return plan.stored_bytes(choice.precision);
  const std::uint64_t row =
      value_bytes(choice.precision, plan.largest_size()) + scale_bytes(choice.precision);
  return table_bytes(0, plan.shape(), choice.precision) + plan.shape().num_rows() * row;
}

std::uint64_t write_model_file(const std::filesystem::path& path, const Dataset& ids,
                               const Split& split, const FitCommand& options,
                               const MaskedTable& table, const ExportChoice& choice, Facts facts) {
  const FitOptions fit = options.resolve();
  const bool is_graph = options.backbone == "lightgcn";
  ModelToWrite model;
  model.backbone = is_graph ? FileBackbone::kLightGcn : FileBackbone::kMf;
  model.serving = is_graph && !choice.materialised ? Serving::kGraph : Serving::kVectors;
  model.layers = model.serving == Serving::kGraph ? kLayers : 0;
  model.precision = choice.precision;
  model.max_dim = options.dim;
  model.facts = std::move(facts);

  // What is stored, and the vectors that the reader will make of it.
  const Graph graph = make_graph(split, fit.final_part);
  ModelOptions exact = fit.model;
  exact.precision = RowPrecision::kFloat32;
  const auto backbone = make_backbone(exact, graph);
  const std::int64_t width = table.models[0].width;
  at::Tensor stored = table.values.slice(1, 0, width).contiguous().clone();
  at::Tensor sizes = table.sizes[0].contiguous().clone();
  if (choice.materialised) {
    stored = backbone->ranking(table).vectors.slice(1, 0, width).contiguous().clone();
    sizes.fill_(static_cast<std::int16_t>(width));
  }
  const std::int16_t* const row_sizes = sizes.data_ptr<std::int16_t>();
  at::Tensor read = stored.clone();
  round_rows(read, row_sizes, choice.precision);
  at::Tensor vectors = read;
  if (model.serving == Serving::kGraph) {
    MaskedTable as_read = table;
    as_read.values = table.values.clone();
    as_read.values.slice(1, 0, width).copy_(read);
    vectors = backbone->ranking(as_read).vectors;
  }
  const at::Tensor norms = vectors.slice(0, split.num_users()).norm(2, 1).contiguous();
  model.item_norms.assign(norms.data_ptr<float>(), norms.data_ptr<float>() + norms.numel());

  model.users = side_of(ids.users, stored, row_sizes, 0);
  model.items = side_of(ids.items, stored, row_sizes, split.num_users());
  if (choice.with_seen || model.serving == Serving::kGraph) {
    for (UserId user = 0; user < split.num_users(); ++user) {
      const std::span<const ItemId> items = items_of(split, fit.final_part, user);
      model.items_of.emplace_back(items.begin(), items.end());
    }
  }
  const std::string bytes = encode_model(model);
  check_bytes(bytes, options, choice, options.shape_of(ids));
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
  return bytes.size();
}

Facts facts_of(const FitCommand& options, const std::string& data_hash,
               const std::string& report_json) {
  const Json report = Json::parse(report_json);
  Facts facts;
  facts.emplace_back("dataset.name", report["dataset"]["name"].get<std::string>());
  facts.emplace_back("dataset.hash", data_hash);
  facts.emplace_back("version", std::string(BET_VERSION));
  add_facts(facts, "budget.", report["budget"]);
  facts.emplace_back("used.params", report["used"]["params"].get<std::int64_t>());
  facts.emplace_back("seed", static_cast<std::int64_t>(options.seed));
  add_facts(facts, "validation.", report["validation"]);
  add_facts(facts, "test.", report["test"]);
  for (const ConfigEntry& entry : options.to_config()) {
    // What does not decide the result stays out: same seed, same bytes.
    if (entry.key == "data" || entry.key == "cache" || entry.key == "threads") continue;
    facts.emplace_back("option." + entry.key, entry.value);
  }
  return facts;
}

}  // namespace bet
