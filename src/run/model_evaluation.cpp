#include "run/model_evaluation.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "model/dense_weights.h"
#include "train/evaluator.h"
#include "train/retraining.h"

namespace bet {
namespace {

// The rows and weights as stored, under the indices of the data; `kind` is what they are scored by.
ModelParameters table_of(const Model& model, const Dataset& dataset, const Backbone& backbone,
                         const BackboneKind& kind) {
  const TableShape shape{dataset.num_users(), dataset.num_items(),
                         std::max(1U, model.row_width() / kind.tables), 1, kind.tables};
  const SizePlan plan = full_plan(shape);
  ModelParameters table = backbone.initial(std::span(&plan, 1), 0);
  if (table.weights.defined()) table.weights.zero_();
  for (const NamedWeights& named : backbone.named_weights(table)) {
    const auto stored = std::find_if(model.weights().begin(), model.weights().end(),
                                     [&](const DenseWeights& w) { return w.name == named.name; });
    BET_CHECK(stored != model.weights().end(), "the file has no weights ", in_quotes(named.name));
    fill_weights(named.values, stored->values);
  }
  float* values = table.values.data_ptr<float>();
  const auto copy = [&](std::uint32_t row, const std::vector<float>& from) {
    std::copy(from.begin(), from.end(), values + row * table.stride());
  };
  std::unordered_map<std::string_view, std::uint32_t> users;
  std::unordered_map<std::string_view, std::uint32_t> items;
  for (std::uint32_t row = 0; row < model.num_users(); ++row) users[model.user_id(row)] = row;
  for (std::uint32_t row = 0; row < model.num_items(); ++row) items[model.item_id(row)] = row;
  const auto row_of = [](const auto& rows, const char* what, const std::string& id) {
    const auto found = rows.find(id);
    BET_CHECK(found != rows.end(), "the file does not have the ", what, " ", in_quotes(id));
    return found->second;
  };
  table.values.zero_();
  for (std::uint32_t user = 0; user < dataset.num_users(); ++user) {
    copy(user, model.stored_user_row(row_of(users, "user", dataset.users.name(user))));
  }
  for (std::uint32_t item = 0; item < dataset.num_items(); ++item) {
    copy(dataset.num_users() + item,
         model.stored_item_row(row_of(items, "item", dataset.items.name(item))));
  }
  return table;
}

}  // namespace

UserQuality user_quality_of_file(const Model& model, const Dataset& dataset, const Split& split,
                                 const FitOptions& options, const at::Device& device) {
  const RetrainingOptions training = retraining_options(options);
  BET_CHECK(training.final_part != TrainingPart::kAll,
            "the model was trained on every interaction (--final all); nothing is held out to "
            "measure on");
  // Vectors are scored as those of mf are.
  const bool is_table = model.summary().serving == "graph" || !model.weights().empty();
  const BackboneKind& kind = find_backbone(is_table ? options.backbone : "mf");
  ModelOptions as_served = training.model;
  as_served.backbone = kind.name;
  as_served.precision = RowPrecision::kFloat32;
  const Graph graph = make_graph(split, training.final_part).to(device);
  const auto backbone = make_backbone(as_served, graph);
  const Ranking ranking = backbone->ranking(table_of(model, dataset, *backbone, kind).to(device));
  const Evaluator evaluator(split, HeldOut::kTest, graph);
  return {evaluator.users(), evaluator.user_hits(ranking.vectors, ranking.models[0])};
}

Metrics evaluate_model_file(const Model& model, const Dataset& dataset, const Split& split,
                            const FitOptions& options, const at::Device& device) {
  return mean_of(user_quality_of_file(model, dataset, split, options, device).measures);
}

}  // namespace bet
