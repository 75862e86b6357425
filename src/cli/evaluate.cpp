#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "bet/model.h"
#include "cli/commands.h"
#include "cli/fit_options.h"
#include "cli/report.h"
#include "model/dense_weights.h"
#include "model/executor.h"
#include "model/tensor_memory.h"
#include "model/threads.h"
#include "runtime/facts.h"
#include "train/evaluator.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

struct EvaluateCommand {
  std::string subject;  // a run folder or a model file
  std::string data;
  int threads = 0;
  std::string device = "cpu";
  bool json = false;
};

// The parameters to measure, under the indices of the data whose hash is given; throws on other
// data.
using TableFor = std::function<MaskedTable(const Dataset& dataset, const std::string& hash,
                                           const Backbone& backbone)>;

Json evaluate_table(const EvaluateCommand& command, const FitCommand& options,
                    const std::string& backbone_name, const TableFor& table_for) {
  FitOptions fit = options.resolve();
  fit.model.backbone = backbone_name;
  BET_CHECK(fit.final_part != TrainingPart::kAll, command.subject,
            ": was trained on every interaction; nothing is held out to measure on");
  Dataset dataset = options.data.load();
  const std::string hash = dataset.hash();
  const Split split = options.data.split_of(dataset);
  const at::Device device = find_device(command.device);
  const Graph graph = make_graph(split, fit.final_part).to(device);
  const auto backbone = make_backbone(fit.model, graph);
  const Ranking ranking = backbone->ranking(table_for(dataset, hash, *backbone).to(device));
  const Metrics test = evaluate(ranking.vectors, ranking.models[0], split, HeldOut::kTest, graph);
  return {{"run", command.subject}, {"users", test.num_users}, {"test", metrics_json(test)}};
}

void check_data(const EvaluateCommand& command, bool is_same, const std::string& hash) {
  BET_CHECK(is_same, command.data, ": is not the data that ", command.subject,
            " was trained on (hash ", hash, ")");
}

Json evaluate_run(const EvaluateCommand& command) {
  const RunFolder run = RunFolder::open(command.subject);
  FitCommand options = parse_fit_options(read_config(run.config()));
  options.data.path = command.data;
  return evaluate_table(
      command, options, options.backbone,
      [&](const Dataset& dataset, const std::string& hash, const Backbone& /*backbone*/) {
        const FinalModel model = read_final_model(run.checkpoint(), options.shape_of(dataset));
        check_data(command, model.identity.starts_with(hash), hash);
        return model.table;
      });
}

// The rows and weights as stored, under the indices of the data; `kind` is what they are scored by.
MaskedTable table_of(const Model& model, const Dataset& dataset, const Backbone& backbone,
                     const BackboneKind& kind) {
  const TableShape shape{dataset.num_users(), dataset.num_items(),
                         std::max(1U, model.row_width() / kind.tables), 1, kind.tables};
  const SizePlan plan = full_plan(shape);
  MaskedTable table = backbone.initial(std::span(&plan, 1), 0);
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
  table.values.zero_();
  for (std::uint32_t user = 0; user < dataset.num_users(); ++user) {
    copy(user, model.stored_user_row(users.at(dataset.users.name(user))));
  }
  for (std::uint32_t item = 0; item < dataset.num_items(); ++item) {
    copy(dataset.num_users() + item, model.stored_item_row(items.at(dataset.items.name(item))));
  }
  return table;
}

Json evaluate_model(const EvaluateCommand& command) {
  const Model model = Model::open(command.subject);
  Config entries;
  for (const auto& [name, fact] : model.facts()) {
    if (!name.starts_with("option.")) continue;
    entries.push_back({name.substr(7), text_fact(command.subject, name, fact)});
  }
  const Model::Fact* const hash = model.fact("dataset.hash");
  BET_CHECK(hash != nullptr && !entries.empty(), command.subject,
            ": does not say which data it was trained on");
  const std::string& trained_on = text_fact(command.subject, "dataset.hash", *hash);
  entries.push_back({"data", command.data});
  const FitCommand options = parse_fit_options(entries);
  // Vectors are scored as those of mf are.
  const bool is_table = model.summary().serving == "graph" || !model.weights().empty();
  const BackboneKind& kind = find_backbone(is_table ? options.backbone : "mf");
  return evaluate_table(
      command, options, std::string(kind.name),
      [&](const Dataset& dataset, const std::string& data_hash, const Backbone& backbone) {
        check_data(command, trained_on == data_hash, data_hash);
        return table_of(model, dataset, backbone, kind);
      });
}

}  // namespace

void add_evaluate(CLI::App& app) {
  CLI::App& command =
      *app.add_subcommand("evaluate", "measure a run's final model, or a model file, on test");
  const auto options = std::make_shared<EvaluateCommand>();  // owned by the parser's callback
  command.add_option("RUN", options->subject, "a run folder or a model file")->required();
  command.add_option("DATA", options->data, "the data it was trained on")->required();
  command.add_option("--threads", options->threads, "0: one per core")->capture_default_str();
  command.add_option("--device", options->device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] {
    use_huge_page_tensors();
    set_num_threads(options->threads);
    const Json json = std::filesystem::is_directory(options->subject) ? evaluate_run(*options)
                                                                      : evaluate_model(*options);
    if (options->json) {
      std::puts(json.dump().c_str());
      return;
    }
    for (const auto& [name, value] : json["test"].items()) {
      std::printf("%-10s %.4f\n", name.c_str(), value.get<double>());
    }
  });
}

}  // namespace bet
