#include "run/experiment_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>

#include "base/with_commas.h"
#include "run/experiment_runs.h"
#include "run/paper_figures.h"

namespace bet {
namespace {

constexpr const char* kNothing = "-";
constexpr std::array kTable1Metrics = {kRecall5, kNdcg5, kRecall20, kNdcg20};

std::string title_of(const std::string& name) {
  if (name == "lightgcn") return "LightGCN";
  if (name == "ngcf") return "NGCF";
  if (name == "ncf") return "NCF";
  if (name == "gowalla") return "Gowalla";
  if (name == "yelp2018") return "Yelp2018";
  return name;
}

// The paper names what is removed.
std::string sparsity_text(double share) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.0f %%", 100 * (1 - share));
  return text.data();
}

std::string sparsity_of_budget(const std::string& budget) {
  return sparsity_text(std::stod(budget) / 100);
}

std::vector<std::string> data_of(std::span<const RunGroup> groups) {
  std::vector<std::string> names;
  for (const RunGroup& group : groups) {
    if (std::ranges::find(names, group.data) == names.end()) names.push_back(group.data);
  }
  return names;
}

const RunGroup* find_group(std::span<const RunGroup> groups, const std::string& data,
                           const std::string& backbone, const std::string& method,
                           const std::string& budget, const std::string& variant = "") {
  const auto found = std::ranges::find_if(groups, [&](const RunGroup& group) {
    return group.data == data && group.backbone == backbone && group.method == method &&
           group.budget == budget && group.variant == variant;
  });
  return found != groups.end() ? &*found : nullptr;
}

std::string mean_text(const RunGroup* group, const MetricKind& metric) {
  return group != nullptr ? quality_text(group->test(metric).mean) : kNothing;
}

std::string figure_text(const std::optional<PaperFigure>& figure) {
  return figure ? figure->text : kNothing;
}

// --- Table 1 ---

// The table of one data set.
class Table1 {
 public:
  Table1(std::string data, std::span<const RunGroup> groups, std::span<const RunPair> pairs)
      : data_(std::move(data)), groups_(groups), pairs_(pairs) {
    for (const char* backbone : kPaperBackbones) {
      const bool has_runs = std::ranges::any_of(groups, [&](const RunGroup& group) {
        return group.data == data_ && group.backbone == backbone;
      });
      if (has_runs) backbones_.emplace_back(backbone);
    }
  }

  ResultTable make() {
    table_.title = "Table 1: " + title_of(data_);
    table_.columns = {"method"};
    for (const std::string& backbone : backbones_) {
      table_.columns.push_back(title_of(backbone));
      for (const MetricKind& metric : kTable1Metrics) {
        table_.columns.emplace_back(metric.short_name);
      }
    }
    for (const char* method : kOwnSizeMethods) add_method(method, "", true);
    for (const char* budget : kPaperBudgets) {
      for (const char* method : kOtherMethods) add_method(method, budget, true);
      add_method("bet", budget, true);
      add_method("bet-paper", budget, false);
      add_p_values(budget);
    }
    add_notes();
    return std::move(table_);
  }

 private:
  void add_method(const std::string& method, const std::string& budget, bool with_paper) {
    std::vector<std::string> own = {method};
    std::vector<std::string> paper = {"  paper"};
    for (const std::string& backbone : backbones_) {
      const RunGroup* const group = find_group(groups_, data_, backbone, method, budget);
      own.push_back(!budget.empty()    ? sparsity_of_budget(budget)
                    : group != nullptr ? sparsity_text(group->mean_share())
                                       : kNothing);
      const std::string printed = paper_sparsity(data_, backbone, method);
      paper.push_back(printed.empty() ? own.back() : printed.substr(0, printed.size() - 1) + " %");
      for (const MetricKind& metric : kTable1Metrics) {
        own.push_back(mean_text(group, metric));
        paper.push_back(figure_text(paper_table1(data_, backbone, method, budget, metric.name)));
      }
    }
    table_.rows.push_back(std::move(own));
    if (with_paper) table_.rows.push_back(std::move(paper));
  }

  // Of the methods that meet a budget, as in the paper.
  const RunGroup* best_other(const std::string& backbone, const std::string& budget,
                             const MetricKind& metric) const {
    const RunGroup* best = nullptr;
    for (const char* method : kOtherMethods) {
      const RunGroup* const group = find_group(groups_, data_, backbone, method, budget);
      if (group == nullptr) continue;
      if (best == nullptr || group->test(metric).mean > best->test(metric).mean) best = group;
    }
    return best;
  }

  std::string p_of(const std::string& backbone, const std::string& budget,
                   const MetricKind& metric) const {
    const RunGroup* const bet = find_group(groups_, data_, backbone, "bet", budget);
    const RunGroup* const other = best_other(backbone, budget, metric);
    const auto pair = std::ranges::find_if(pairs_, [&](const RunPair& one) {
      return one.one == bet && one.other == other && one.metric.name == metric.name;
    });
    if (bet == nullptr || other == nullptr || pair == pairs_.end()) return kNothing;
    return p_text(pair->holm_p) + (pair->test.difference < 0 ? "*" : "");
  }

  void add_p_values(const std::string& budget) {
    std::vector<std::string> own = {"p (Holm)"};
    std::vector<std::string> paper = {"  paper: p"};
    for (const std::string& backbone : backbones_) {
      own.emplace_back();
      paper.emplace_back();
      for (const MetricKind& metric : kTable1Metrics) {
        own.push_back(p_of(backbone, budget, metric));
        paper.push_back(figure_text(paper_p_value(data_, backbone, budget, metric.name)));
      }
    }
    table_.rows.push_back(std::move(own));
    table_.rows.push_back(std::move(paper));
  }

  // "bet is above the paper's BET in 9 of 9 cells by R@20 and in 9 of 9 by N@20."
  std::string above_paper(const std::string& method) const {
    std::string text;
    for (const MetricKind& metric : kMetricsAt20) {
      int above = 0;
      int cells = 0;
      for (const std::string& backbone : backbones_) {
        for (const char* budget : kPaperBudgets) {
          const RunGroup* const group = find_group(groups_, data_, backbone, method, budget);
          const auto paper = paper_table1(data_, backbone, "bet", budget, metric.name);
          if (group == nullptr || !paper) continue;
          ++cells;
          above += group->test(metric).mean > paper->value ? 1 : 0;
        }
      }
      if (cells == 0) return "";
      text += (text.empty() ? method + " is above the paper's BET in " : " and in ") +
              std::to_string(above) + " of " + std::to_string(cells) + " cells by " +
              std::string(metric.short_name);
    }
    return text + ".";
  }

  void add_notes() {
    for (const char* method : {"bet", "bet-paper"}) {
      if (const std::string text = above_paper(method); !text.empty()) {
        table_.notes.push_back(text);
      }
    }
    table_.notes.emplace_back(
        "Below the name of a backbone: sparsity, the share of parameters that is removed. Means "
        "over "
        "seeds on test. bet is this program's search, bet-paper the search of the "
        "paper; both stand beside the paper's BET. In brackets: what is meant where the paper has "
        "a misprint.");
    table_.notes.emplace_back(
        "p: paired t-test over users of bet against the best of pep, es, mr and ciess in the "
        "block, corrected (Holm) for all tests in pairs.csv; * marks cells where that one is "
        "better. The paper's p-values are as printed.");
  }

  std::string data_;
  std::span<const RunGroup> groups_;
  std::span<const RunPair> pairs_;
  std::vector<std::string> backbones_;
  ResultTable table_;
};

// --- Table 2 ---

ResultTable table2(std::span<const RunGroup> groups) {
  ResultTable table = {.title = "Table 2: bet-paper by how it selects plans, LightGCN",
                       .columns = {"selection", "sparsity"},
                       .rows = {}};
  const std::vector<std::string> names = data_of(groups);
  for (const std::string& data : names) {
    for (const char* column : {"R@20", "N@20", "paper R@20", "paper N@20"}) {
      table.columns.push_back(title_of(data) + ": " + column);
    }
  }
  for (const char* budget : kPaperBudgets) {
    for (const PaperVariant& variant : paper_variants(ExperimentKind::kTable2)) {
      std::vector<std::string> row = {variant.label, sparsity_of_budget(budget)};
      for (const std::string& data : names) {
        const RunGroup* const group =
            find_group(groups, data, "lightgcn", "bet-paper", budget, variant.label);
        for (const MetricKind& metric : kMetricsAt20) row.push_back(mean_text(group, metric));
        for (const MetricKind& metric : kMetricsAt20) {
          row.push_back(figure_text(paper_table2(data, variant.label, budget, metric.name)));
        }
      }
      table.rows.push_back(std::move(row));
    }
  }
  table.notes = {"Means over seeds on test."};
  return table;
}

// --- figures ---

// "gowalla, 80 %": what a line or a row of a figure is about.
std::string figure_label(const std::string& data, const std::string& budget) {
  return title_of(data) + ", " + sparsity_of_budget(budget);
}

ResultTable figure_m_table(std::span<const RunGroup> groups) {
  ResultTable table = {.title = "bet-paper by the number of candidates m, LightGCN: R@20 / N@20",
                       .columns = {"data, sparsity"},
                       .rows = {}};
  const std::vector<PaperVariant> variants = paper_variants(ExperimentKind::kFigureM);
  for (const PaperVariant& variant : variants) table.columns.push_back("m = " + variant.label);
  table.columns.emplace_back("paper, m = 100");
  for (const std::string& data : data_of(groups)) {
    for (const char* budget : kPaperBudgets) {
      std::vector<std::string> row = {figure_label(data, budget)};
      for (const PaperVariant& variant : variants) {
        const RunGroup* const group =
            find_group(groups, data, "lightgcn", "bet-paper", budget, variant.label);
        row.push_back(group == nullptr
                          ? kNothing
                          : mean_text(group, kRecall20) + " / " + mean_text(group, kNdcg20));
      }
      const auto paper = [&](const MetricKind& metric) {
        return figure_text(paper_table1(data, "lightgcn", "bet", budget, metric.name));
      };
      row.push_back(paper(kRecall20) + " / " + paper(kNdcg20));
      table.rows.push_back(std::move(row));
    }
  }
  table.notes = {
      "Means over seeds on test. The paper draws its curves without numbers; its value for "
      "m = 100 is BET's in Table 1."};
  return table;
}

// A number for every iteration of a run; none: not known.
using ByIteration = std::function<std::vector<std::optional<double>>(const FitReport&)>;

// The spread over seeds by iteration, of iterations that every run has.
std::vector<ChartData::Point> points_by_iteration(const RunGroup& group, const ByIteration& of) {
  std::vector<std::vector<std::optional<double>>> runs;
  std::size_t count = 0;
  for (const ComparedRun* run : group.runs) {
    runs.push_back(of(*run->report));
    count = std::max(count, runs.back().size());
  }
  std::vector<ChartData::Point> points;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double> values;
    for (const auto& run : runs) {
      if (i < run.size() && run[i]) values.push_back(*run[i]);
    }
    if (values.size() == runs.size()) {
      points.push_back({static_cast<double>(i + 1), spread_of(values)});
    }
  }
  return points;
}

// A line for each sparsity of a data set.
ChartData chart_by_iteration(std::span<const RunGroup> groups, const std::string& data,
                             const std::string& title, const ByIteration& of) {
  ChartData chart = {.title = title + ", " + title_of(data), .x = "iteration", .y = title};
  for (const RunGroup& group : groups) {
    if (group.data != data) continue;
    chart.series.push_back({sparsity_of_budget(group.budget), points_by_iteration(group, of)});
  }
  return chart;
}

ByIteration quality_by_iteration(const MetricKind& metric) {
  return [metric](const FitReport& report) {
    std::vector<std::optional<double>> values;
    for (const Metrics& one : best_of_first(report)) values.emplace_back(metric.of(one));
    return values;
  };
}

std::vector<std::optional<double>> losses_by_iteration(const FitReport& report) {
  std::vector<std::optional<double>> losses(report.trials.size());
  for (const FitReport::MeasuredPlan& trial : report.trials) {
    const bool is_known = trial.predictor_loss && *trial.predictor_loss > 0;
    if (is_known) losses.at(trial.iteration - 1) = trial.predictor_loss;
  }
  return losses;
}

// The points of charts at some iterations, a row a line.
ResultTable table_of_charts(const std::string& title, const std::vector<ChartData>& charts,
                            const char* format) {
  constexpr std::array kShown = {1, 2, 5, 10, 15, 20, 30, 40, 49, 50};
  ResultTable table = {.title = title, .columns = {"", "sparsity"}, .rows = {}};
  std::vector<int> shown;
  for (const int iteration : kShown) {
    for (const ChartData& chart : charts) {
      const bool is_there = std::ranges::any_of(chart.series, [&](const auto& series) {
        return std::ranges::any_of(series.points,
                                   [&](const auto& point) { return point.x == iteration; });
      });
      if (is_there && (shown.empty() || shown.back() != iteration)) shown.push_back(iteration);
    }
  }
  for (const int iteration : shown) table.columns.push_back("t = " + std::to_string(iteration));
  for (const ChartData& chart : charts) {
    for (const ChartData::Series& series : chart.series) {
      std::vector<std::string> row = {chart.title, series.name};
      for (const int iteration : shown) {
        const auto found = std::ranges::find_if(
            series.points, [&](const auto& point) { return point.x == iteration; });
        std::array<char, 32> text{};
        if (found != series.points.end()) {
          std::snprintf(text.data(), text.size(), format, found->y.mean);
        }
        row.emplace_back(found != series.points.end() ? text.data() : kNothing);
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

std::vector<ChartData> charts_by_m(std::span<const RunGroup> groups) {
  std::vector<ChartData> charts;
  for (const std::string& data : data_of(groups)) {
    for (const MetricKind& metric : kMetricsAt20) {
      ChartData chart = {.title = std::string(metric.name) + " on test, " + title_of(data),
                         .x = "candidates m",
                         .y = std::string(metric.name)};
      for (const char* budget : kPaperBudgets) {
        ChartData::Series series = {sparsity_of_budget(budget), {}};
        for (const RunGroup& group : groups) {
          if (group.data != data || group.budget != budget) continue;
          series.points.push_back({std::stod(group.variant), group.test(metric)});
        }
        if (!series.points.empty()) chart.series.push_back(std::move(series));
      }
      charts.push_back(std::move(chart));
    }
  }
  return charts;
}

}  // namespace

std::vector<Metrics> best_of_first(const FitReport& report) {
  constexpr std::size_t kRetrained = 5;
  // Plans that were drawn twice are retrained once.
  std::vector<const FitReport::MeasuredPlan*> order;
  const auto retrained = [&](const FitReport::MeasuredPlan& trial) {
    return std::ranges::find_if(report.retrained, [&](const FitReport::Retrained& plan) {
      return plan.iteration == trial.iteration;
    });
  };
  std::vector<Metrics> best;
  for (const FitReport::MeasuredPlan& trial : report.trials) {
    if (retrained(trial) != report.retrained.end()) order.push_back(&trial);
    std::ranges::stable_sort(order, std::greater(), &FitReport::MeasuredPlan::fitness);
    if (order.size() > kRetrained) order.resize(kRetrained);
    std::optional<Metrics> chosen;
    for (const FitReport::MeasuredPlan* one : order) {
      const Metrics& validation = retrained(*one)->validation;
      if (!chosen || validation.score() > chosen->score()) chosen = validation;
    }
    if (!chosen) return {};
    best.push_back(*chosen);
  }
  return best;
}

ComparedGroups experiment_pairs(ExperimentKind kind, std::span<const RunGroup> groups) {
  ComparedGroups pairs;
  for (const RunGroup& one : groups) {
    const bool is_first = (kind == ExperimentKind::kTable1 && one.method == "bet") ||
                          (kind == ExperimentKind::kTable2 && one.variant == "deepsets") ||
                          (kind == ExperimentKind::kFigureM && one.variant == "100");
    if (!is_first) continue;
    for (const RunGroup& other : groups) {
      const bool in_block = other.data == one.data && other.backbone == one.backbone &&
                            (other.budget == one.budget || other.budget.empty());
      if (in_block && &other != &one) pairs.emplace_back(&one, &other);
    }
  }
  return pairs;
}

std::vector<MetricKind> experiment_metrics(ExperimentKind kind) {
  if (kind == ExperimentKind::kTable1) return {kTable1Metrics.begin(), kTable1Metrics.end()};
  return {kMetricsAt20.begin(), kMetricsAt20.end()};
}

std::vector<ResultTable> experiment_tables(ExperimentKind kind, std::span<const RunGroup> groups,
                                           std::span<const RunPair> pairs) {
  std::vector<ResultTable> tables;
  switch (kind) {
    case ExperimentKind::kTable1:
      for (const std::string& data : data_of(groups)) {
        tables.push_back(Table1(data, groups, pairs).make());
      }
      break;
    case ExperimentKind::kTable2:
      tables.push_back(table2(groups));
      break;
    case ExperimentKind::kFigureM:
      tables.push_back(figure_m_table(groups));
      break;
    case ExperimentKind::kFigureT:
      tables.push_back(table_of_charts("bet-paper by the number of iterations t, LightGCN",
                                       experiment_charts(kind, groups), "%.4f"));
      tables.back().notes = {
          "Of the first t plans the five of highest fitness, and of these the one of best "
          "validation score after retraining, as the search chooses after T; means over seeds on "
          "validation, because test is measured once, for the plan that is chosen at the end. The "
          "paper draws its curves without numbers."};
      break;
    case ExperimentKind::kFigureLoss:
      tables.push_back(table_of_charts("Loss of the fitness predictor by iteration, LightGCN",
                                       experiment_charts(kind, groups), "%.1e"));
      tables.back().notes = {
          "Mean squared error of the predictor's steps in iteration t, each before its step; means "
          "over seeds. In the first iteration there is nothing to learn from, in the last one "
          "nothing to choose. The paper draws its curves without numbers."};
      break;
  }
  return tables;
}

std::vector<ChartData> experiment_charts(ExperimentKind kind, std::span<const RunGroup> groups) {
  std::vector<ChartData> charts;
  if (kind == ExperimentKind::kFigureM) return charts_by_m(groups);
  for (const std::string& data : data_of(groups)) {
    if (kind == ExperimentKind::kFigureT) {
      for (const MetricKind& metric : kMetricsAt20) {
        charts.push_back(chart_by_iteration(groups, data, std::string(metric.name),
                                            quality_by_iteration(metric)));
      }
    }
    if (kind == ExperimentKind::kFigureLoss) {
      charts.push_back(chart_by_iteration(groups, data, "predictor loss", losses_by_iteration));
      charts.back().log_y = true;
    }
  }
  return charts;
}

}  // namespace bet
