#include "train/parameter_state.h"

#include "base/error.h"
#include "base/precision_text.h"

namespace bet {

std::string parameter_key(const std::string& name, const std::string& part) {
  if (name.empty()) return part;
  return part == "table" ? name : name + " " + part;
}

void save_parameters(Checkpoint& checkpoint, const std::string& name,
                     const ModelParameters& parameters) {
  checkpoint.tensors[parameter_key(name, "table")] = parameters.values.cpu();
  if (!parameters.weights.defined()) return;
  checkpoint.tensors[parameter_key(name, "weights")] = parameters.weights.cpu();
}

bool has_parameters(const Checkpoint& checkpoint, const std::string& name) {
  return checkpoint.tensors.contains(parameter_key(name, "table"));
}

void load_parameters(const Checkpoint& checkpoint, const std::string& name,
                     ModelParameters& parameters) {
  checkpoint.copy_tensor(parameter_key(name, "table"), parameters.values);
  if (!parameters.weights.defined()) return;
  checkpoint.copy_tensor(parameter_key(name, "weights"), parameters.weights);
}

void save_model(Checkpoint& checkpoint, const ModelParameters& parameters) {
  save_parameters(checkpoint, "", parameters);
  checkpoint.tensors["sizes"] = parameters.sizes.to(at::kFloat).view({-1, 1});
  if (parameters.kept.defined()) checkpoint.tensors["kept"] = parameters.kept;
  checkpoint.numbers["users"] = static_cast<double>(parameters.num_users);
  if (!parameters.precisions.empty()) {
    checkpoint.texts["precision"] = precision_text(parameters.precisions[0]);
  }
  if (parameters.stores_vectors(0)) {
    checkpoint.tensors["vector sizes"] = parameters.vector_sizes.to(at::kFloat).view({-1, 1});
  }
}

ModelParameters load_model(const Checkpoint& checkpoint) {
  ModelParameters parameters;
  parameters.values = checkpoint.tensor("table");
  parameters.sizes = checkpoint.tensor("sizes").view({1, -1}).to(at::kShort);
  BET_CHECK(parameters.sizes.size(1) == parameters.num_rows(), "a checkpoint of ",
            parameters.num_rows(), " rows has ", parameters.sizes.size(1), " sizes");
  parameters.models = {
      {0, static_cast<std::uint32_t>(parameters.sizes.max().item<std::int16_t>())}};
  if (checkpoint.tensors.contains("weights")) parameters.weights = checkpoint.tensor("weights");
  if (checkpoint.tensors.contains("kept")) parameters.kept = checkpoint.tensor("kept");
  // Earlier versions trained all models in fp32.
  if (!checkpoint.texts.contains("precision")) return parameters;
  const std::string& text = checkpoint.text("precision");
  const std::optional<TablePrecision> precision = parse_table_precision(text);
  BET_CHECK(precision, "a checkpoint of the unknown precision ", in_quotes(text));
  parameters.precisions = {*precision};
  parameters.num_users = static_cast<std::int64_t>(checkpoint.number("users"));
  if (!checkpoint.tensors.contains("vector sizes")) return parameters;
  const at::Tensor vector_sizes = checkpoint.tensor("vector sizes").view({1, -1}).to(at::kShort);
  BET_CHECK(vector_sizes.size(1) == parameters.num_rows(), "a checkpoint of ",
            parameters.num_rows(), " rows has ", vector_sizes.size(1), " sizes of vectors");
  store_vectors(parameters, {StoredForm::kVectors}, vector_sizes);
  return parameters;
}

}  // namespace bet
