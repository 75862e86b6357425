#include "run/experiment_runs.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/run_files.h"
#include "data/load.h"

namespace bet {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMostSeeds = 100;
constexpr const char* kPaperMethod = "bet-paper";

std::vector<std::string> words_between(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, separator);) words.push_back(word);
  return words;
}

// Filters of a job; every word has to be that of some run.
class RunFilters {
 public:
  explicit RunFilters(const std::vector<std::string>& filters) {
    for (const std::string& filter : filters) filters_.push_back(words_between(filter, '/'));
  }

  bool take(const std::vector<std::string>& run) {
    known_.insert(run.begin(), run.end());
    const auto has_word = [&](const std::string& word) {
      return std::ranges::find(run, word) != run.end();
    };
    return filters_.empty() || std::ranges::any_of(filters_, [&](const auto& words) {
             return std::ranges::all_of(words, has_word);
           });
  }

  void refuse_unknown_words() const {
    for (const auto& words : filters_) {
      for (const std::string& word : words) {
        BET_CHECK(known_.contains(word), "--only: no run of this experiment has ", in_quotes(word));
      }
    }
  }

 private:
  std::vector<std::vector<std::string>> filters_;
  std::set<std::string> known_;
};

// A cell of the experiment, without its seed.
struct PlannedCell {
  FitOptions options;
  PaperVariant variant;
};

void set_variant(ExperimentKind kind, const PaperVariant& variant, MethodOptions& options) {
  constexpr std::uint32_t kIterations = 50;
  switch (kind) {
    case ExperimentKind::kTable2:
      options.selection = variant.label == "random"   ? Selection::kRandom
                          : variant.label == "simple" ? Selection::kSimple
                                                      : Selection::kDeepSets;
      break;
    case ExperimentKind::kFigureM:
      options.candidates = static_cast<std::uint32_t>(std::stoul(variant.label));
      break;
    case ExperimentKind::kFigureT:
      options.retrain_top = options.iterations.value_or(kIterations);
      break;
    case ExperimentKind::kTable1:
    case ExperimentKind::kFigureLoss:
      break;
  }
}

std::vector<PlannedCell> cells_of(const ExperimentJob& job, const std::string& data) {
  std::vector<PlannedCell> cells;
  FitOptions options = job.options;
  options.data.path = data;
  const auto add = [&](const char* backbone, const char* method, const char* budget,
                       const PaperVariant& variant) {
    options.backbone = backbone;
    options.method = method;
    options.search = job.options.search;
    set_variant(job.kind, variant, options.search);
    options.budget.reset();
    if (budget != nullptr) options.budget = parse_budget(budget);
    cells.push_back({options, variant});
  };
  if (job.kind != ExperimentKind::kTable1) {
    for (const PaperVariant& variant : paper_variants(job.kind)) {
      for (const char* budget : kPaperBudgets) add("lightgcn", kPaperMethod, budget, variant);
    }
    return cells;
  }
  for (const char* backbone : kPaperBackbones) {
    for (const char* method : kOwnSizeMethods) add(backbone, method, nullptr, {});
    for (const char* budget : kPaperBudgets) {
      for (const char* method : kOtherMethods) add(backbone, method, budget, {});
      for (const char* method : {"bet", kPaperMethod}) add(backbone, method, budget, {});
    }
  }
  return cells;
}

}  // namespace

std::vector<PaperVariant> paper_variants(ExperimentKind kind) {
  switch (kind) {
    case ExperimentKind::kTable2:
      return {{"random", "random"}, {"simple", "simple"}, {"deepsets", ""}};
    case ExperimentKind::kFigureM:
      return {{"20", "m20"}, {"40", "m40"}, {"60", "m60"}, {"80", "m80"}, {"100", ""}};
    case ExperimentKind::kFigureT:
      return {{"all plans", "all-plans"}};
    case ExperimentKind::kTable1:
    case ExperimentKind::kFigureLoss:
      break;
  }
  return {{}};
}

std::vector<ComparedRun> experiment_runs(const ExperimentJob& job, const fs::path& folder) {
  RunFilters filters(job.only);
  std::vector<ComparedRun> runs;
  std::set<std::string> names;
  for (const std::string& data : job.data) {
    const std::string name = dataset_name(data);
    BET_CHECK(names.insert(name).second, "two data sets have the name ", in_quotes(name));
    for (const PlannedCell& cell : cells_of(job, data)) {
      const std::string budget = cell.options.budget ? cell.options.budget->text : "any";
      std::vector<std::string> words = {name, cell.options.backbone, cell.options.method, budget};
      std::string stem = name + "-" + cell.options.backbone + "-" + cell.options.method;
      if (!cell.variant.suffix.empty()) stem += "-" + cell.variant.suffix;
      if (!cell.variant.label.empty()) words.push_back(cell.variant.label);
      const bool is_taken = filters.take(words);
      with_defaults(cell.options);  // throws now on what a run would refuse after hours
      for (std::uint32_t i = 0; i < kMostSeeds; ++i) {
        FitOptions options = cell.options;
        options.seed = job.options.seed + i;
        const fs::path path = folder / str_cat(stem, "-", budget, "-", options.seed);
        const bool is_asked = is_taken && i < job.seeds;
        if (!is_asked && !fs::exists(RunFiles{path}.report())) continue;
        runs.push_back({std::move(options), path, cell.variant.label});
      }
    }
  }
  filters.refuse_unknown_words();
  return runs;
}

}  // namespace bet
