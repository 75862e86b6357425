#include "report/report_charts.h"

#include <algorithm>
#include <map>

#include "base/with_commas.h"
#include "report/html_text.h"
#include "report/svg_chart.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kColours = 6;
constexpr int kGrey = 4;

std::uint64_t count_at(const Json& json, const char* key) {
  return json.at(key).get<std::uint64_t>();
}

std::string trial_title(const Json& trial) {
  std::string text = "training " + with_commas(count_at(trial, "iteration"));
  if (trial.contains("plan") && !trial["plan"].is_null()) {
    text += ", plan " + with_commas(count_at(trial, "plan"));
  }
  text += " (" + trial.at("strategy").get<std::string>() + ")";
  if (trial.contains("precision")) text += ", " + trial["precision"].get<std::string>();
  return text + ": " + fixed_text(trial.at("fitness"), 5);
}

ChartPoint trial_point(const Json& trial) {
  return {trial.at("iteration"), trial.at("fitness"), trial_title(trial)};
}

std::string trainings_chart(const Json& report) {
  const Json& trials = report.at("trials");
  const auto num_lengths = report.value("length_trials", std::size_t{0});
  const bool by_steps = report.at("method") == "bet";
  ChartSeries lengths = {"finding the length", kGrey, {}, false, true};
  std::map<std::uint64_t, ChartSeries> rungs;
  ChartSeries best = {"best so far", kGrey, {}, true, false};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const ChartPoint point = trial_point(trials[i]);
    if (i < num_lengths) {
      lengths.points.push_back(point);
      continue;
    }
    const std::uint64_t steps = trials[i].value("steps", std::uint64_t{0});
    ChartSeries& rung = rungs[by_steps ? steps : 0];
    rung.name = by_steps ? with_commas(steps) + " steps" : "measured plan";
    rung.points.push_back(point);
    const double highest = best.points.empty() ? point.y : std::max(point.y, best.points.back().y);
    if (!best.points.empty()) best.points.push_back({point.x, best.points.back().y, ""});
    best.points.push_back({point.x, highest, ""});
  }
  Chart chart = {.title = "Trainings of the search",
                 .x = {.label = "training"},
                 .y = {.label = by_steps ? "score on held-out items" : "fitness"},
                 .series = {best}};
  int colour = 0;
  for (auto& [steps, rung] : rungs) {
    colour = colour % kColours + 1;
    if (colour == kGrey) ++colour;
    rung.colour = colour;
    chart.series.push_back(std::move(rung));
  }
  chart.series.push_back(std::move(lengths));
  return svg_chart(chart);
}

std::string predictions_chart(const Json& report) {
  ChartSeries plans = {"plan", 1, {}, false, true};
  for (const Json& trial : report.at("trials")) {
    if (trial.at("predicted").is_null()) continue;
    const double predicted = trial["predicted"];
    plans.points.push_back({predicted, trial.at("fitness"),
                            "iteration " + with_commas(count_at(trial, "iteration")) +
                                ": predicted " + fixed_text(predicted, 5) + ", measured " +
                                fixed_text(trial.at("fitness"), 5)});
  }
  return svg_chart({.title = "Predicted and measured fitness",
                    .x = {.label = "predicted"},
                    .y = {.label = "measured"},
                    .series = {plans},
                    .diagonal = true});
}

// A number of each bin of both sides.
template <typename Value>
std::string rank_chart(const Json& sizes, const std::string& title, const std::string& label,
                       const Value& value) {
  Chart chart = {.title = title,
                 .x = {.label = "rank by frequency in training (1: most frequent)", .log = true},
                 .y = {.label = label, .from_zero = true},
                 .series = {}};
  int colour = 1;
  for (const char* side : {"users", "items"}) {
    ChartSeries series = {side, colour++, {}, true, true};
    for (const Json& bin : sizes.at(side).at("by_rank")) {
      const std::uint64_t first = count_at(bin, "first");
      const std::uint64_t last = count_at(bin, "last");
      const double y = value(bin);
      const std::string ranks = first == last
                                    ? "rank " + with_commas(first)
                                    : "ranks " + with_commas(first) + " to " + with_commas(last);
      std::string shown = side;
      shown.append(", ").append(ranks).append(" (").append(fixed_text(bin.at("frequency"), 1));
      shown.append(" interactions each): ").append(label).append(" ").append(fixed_text(y, 1));
      series.points.push_back({static_cast<double>(first + last) / 2, y, std::move(shown)});
    }
    chart.series.push_back(std::move(series));
  }
  return svg_chart(chart);
}

// The points of a curve, where it has them.
template <typename Value>
ChartSeries curve_series(const Json& curve, const std::string& name, int colour,
                         const Value& value) {
  ChartSeries series = {name, colour, {}, true, true};
  for (const Json& point : curve) {
    const Json y = value(point);
    if (y.is_null()) continue;
    series.points.push_back(
        {point.at("step"), y,
         name + ", step " + with_commas(count_at(point, "step")) + ": " + fixed_text(y, 5)});
  }
  return series;
}

}  // namespace

std::string search_charts(const Json& report) {
  return trainings_chart(report) + predictions_chart(report);
}

std::string size_charts(const Json& report) {
  if (!report.contains("sizes")) return "";
  const Json& sizes = report["sizes"];
  return rank_chart(sizes, "Size of rows by frequency", "mean size",
                    [](const Json& bin) { return bin.at("size").get<double>(); }) +
         rank_chart(sizes, "Bits of rows by frequency", "mean bits",
                    [](const Json& bin) { return 8 * bin.at("bytes").get<double>(); });
}

std::string training_charts(const Json& report) {
  if (!report.contains("curves")) return "";
  const Json& curves = report["curves"];
  const auto loss = [](const Json& point) { return point.at("loss"); };
  const auto metric = [](const char* name) {
    return [name](const Json& point) {
      const Json& validation = point.at("validation");
      return validation.is_null() ? Json() : validation.at(name);
    };
  };
  const Json& train = curves.at("train");
  const ChartSeries recall = curve_series(train, "recall@20", 1, metric("recall@20"));
  const ChartSeries ndcg = curve_series(train, "ndcg@20", 2, metric("ndcg@20"));
  std::string figures =
      svg_chart({.title = "Loss",
                 .x = {.label = "step"},
                 .y = {.label = "mean loss"},
                 .series = {curve_series(train, "training for the choice", 1, loss),
                            curve_series(curves.at("final"), "final training", 2, loss)}});
  // A training that was measured at its end alone has no curve.
  if (recall.points.size() > 1) {
    figures += svg_chart({.title = "Validation during the training for the choice",
                          .x = {.label = "step"},
                          .y = {.label = "quality"},
                          .series = {recall, ndcg}});
  }
  return figures;
}

std::string activity_chart(const Json& report) {
  if (!report.contains("activity")) return "";
  BarChart chart = {.title = "Quality on test by activity of users",
                    .x_label = "items of a user in training",
                    .y_label = "recall@20",
                    .series = {"this model", "popularity"},
                    .groups = {}};
  for (const Json& group : report["activity"]) {
    std::string name = with_commas(count_at(group, "fewest"));
    const std::string most = with_commas(count_at(group, "most"));
    if (name != most) name.append("–").append(most);
    chart.groups.push_back(
        {std::move(name),
         {group.at("test").at("recall@20"), group.at("popularity").at("recall@20")}});
  }
  return svg_bars(chart);
}

}  // namespace bet
