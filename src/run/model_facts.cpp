#include "run/model_facts.h"

#include "base/error.h"
#include "run/option_table.h"

namespace bet {
namespace {

constexpr std::string_view kDataHash = "dataset.hash";
constexpr std::string_view kOption = "option.";

void add_metrics(Facts& facts, const std::string& prefix, const Metrics& metrics) {
  if (metrics.num_users == 0) return;
  for (std::size_t i = 0; i < kCutoffs.size(); ++i) {
    facts.emplace_back(prefix + "recall@" + std::to_string(kCutoffs[i]), metrics.recall[i]);
    facts.emplace_back(prefix + "ndcg@" + std::to_string(kCutoffs[i]), metrics.ndcg[i]);
  }
}

}  // namespace

Facts facts_of(const FitOptions& options, const FitReport& report) {
  const auto integer = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  Facts facts;
  facts.emplace_back("dataset.name", report.data.name);
  facts.emplace_back(kDataHash, report.data.hash);
  if (!report.data.text_ids.empty()) facts.emplace_back("ids.text", report.data.text_ids);
  facts.emplace_back("version", std::string(BET_VERSION));
  if (report.budget) {
    facts.emplace_back("budget.requested", report.budget->requested.text);
    facts.emplace_back("budget.for", std::string(target_name(report.budget->target)));
    facts.emplace_back("budget.params", integer(report.budget->params));
    facts.emplace_back("budget.bytes", integer(report.budget->bytes));
  }
  facts.emplace_back("used.params", integer(report.used.params));
  facts.emplace_back("seed", integer(options.seed));
  add_metrics(facts, "validation.", report.validation);
  add_metrics(facts, "test.", report.test);
  if (report.as_trained) add_metrics(facts, "test_fp32.", *report.as_trained);
  if (report.full_validation) {  // what to compare with, in few bytes
    facts.emplace_back("full_validation.recall@20", report.full_validation->recall.back());
    facts.emplace_back("full_validation.ndcg@20", report.full_validation->ndcg.back());
  }
  for (const ConfigEntry& entry : deciding_options(options)) {
    facts.emplace_back(std::string(kOption) + entry.key, entry.value);
  }
  return facts;
}

ModelFacts read_model_facts(const Model& model, const std::string& file) {
  Config entries;
  for (const auto& [name, fact] : model.facts()) {
    if (!name.starts_with(kOption)) continue;
    entries.push_back({name.substr(kOption.size()), text_fact(file, name, fact)});
  }
  const Model::Fact* const hash = model.fact(kDataHash);
  BET_CHECK(hash != nullptr && !entries.empty(), file,
            ": does not say which data it was trained on");
  return {text_fact(file, kDataHash, *hash), stored_options(entries)};
}

}  // namespace bet
