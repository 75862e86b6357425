#include "run/run_pairs.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/option.h"
#include "base/run_files.h"
#include "run/csv_line.h"
#include "run/test_hits.h"

namespace bet {
namespace {

// Reads each file once.
class HitsOfRuns {
 public:
  // Null for a run without the file.
  const std::vector<UserHits>* of(const ComparedRun& run) {
    const std::filesystem::path file = RunFiles{run.folder}.test_hits();
    if (!std::filesystem::exists(file)) return nullptr;
    const auto [found, is_new] = hits_.try_emplace(file.string());
    if (is_new) found->second = read_test_hits(file);
    return &found->second;
  }

 private:
  std::map<std::string, std::vector<UserHits>> hits_;
};

// The hits of both by seed, of the seeds that both have.
using SeedPair = std::pair<const std::vector<UserHits>*, const std::vector<UserHits>*>;

void check_same_users(const std::vector<UserHits>& one, const std::vector<UserHits>& other,
                      const ComparedRun& run, const ComparedRun& other_run) {
  bool same = one.size() == other.size();
  for (std::size_t i = 0; same && i < one.size(); ++i) same = one[i].held_out == other[i].held_out;
  BET_CHECK(same, run.folder.string(), " and ", other_run.folder.string(),
            " were not measured on the same users");
}

std::vector<SeedPair> common_seeds(const RunGroup& one, const RunGroup& other, HitsOfRuns& hits) {
  std::vector<SeedPair> pairs;
  for (const ComparedRun* run : one.runs) {
    for (const ComparedRun* other_run : other.runs) {
      if (run->options.seed != other_run->options.seed) continue;
      const auto* own = hits.of(*run);
      const auto* others = hits.of(*other_run);
      if (own == nullptr || others == nullptr) continue;
      check_same_users(*own, *others, *run, *other_run);
      pairs.emplace_back(own, others);
    }
  }
  return pairs;
}

// The values of both by user, and the differences of their means by seed.
struct PairValues {
  std::vector<double> one;
  std::vector<double> other;
  std::vector<double> by_seed;
};

PairValues values_of(const std::vector<SeedPair>& seeds, const MetricKind& metric) {
  const std::size_t users = seeds[0].first->size();
  const auto count = static_cast<double>(seeds.size());
  PairValues values = {std::vector<double>(users), std::vector<double>(users), {}};
  for (const auto& [one, other] : seeds) {
    double difference = 0;
    for (std::size_t i = 0; i < users; ++i) {
      const double own = metric.of(user_metrics((*one)[i].hits, (*one)[i].held_out));
      const double others = metric.of(user_metrics((*other)[i].hits, (*other)[i].held_out));
      values.one[i] += own / count;
      values.other[i] += others / count;
      difference += own - others;
    }
    values.by_seed.push_back(difference / static_cast<double>(std::max<std::size_t>(users, 1)));
  }
  return values;
}

RunPair pair_of(const RunGroup& one, const RunGroup& other, const MetricKind& metric,
                const PairValues& values) {
  RunPair pair = {.one = &one,
                  .other = &other,
                  .metric = metric,
                  .users = values.one.size(),
                  .test = paired_test(values.one, values.other),
                  .seeds = values.by_seed.size(),
                  .over_seeds = spread_of(values.by_seed)};
  for (const double difference : values.by_seed) pair.seeds_better += difference > 0 ? 1 : 0;
  return pair;
}

}  // namespace

std::vector<RunPair> run_pairs(
    std::span<const std::pair<const RunGroup*, const RunGroup*>> compared,
    std::span<const MetricKind> metrics) {
  HitsOfRuns hits;
  std::vector<RunPair> pairs;
  // By data: all differences of the same users have the same resamples.
  std::map<std::string, std::pair<std::vector<std::size_t>, std::vector<std::vector<double>>>>
      differences;
  for (const auto& [one, other] : compared) {
    const std::vector<SeedPair> seeds = common_seeds(*one, *other, hits);
    if (seeds.empty()) continue;
    for (const MetricKind& metric : metrics) {
      const PairValues values = values_of(seeds, metric);
      std::vector<double> difference(values.one.size());
      for (std::size_t i = 0; i < difference.size(); ++i) {
        difference[i] = values.one[i] - values.other[i];
      }
      auto& [places, series] = differences[one->data];
      places.push_back(pairs.size());
      series.push_back(std::move(difference));
      pairs.push_back(pair_of(*one, *other, metric, values));
    }
  }
  for (const auto& [data, found] : differences) {
    const auto& [places, series] = found;
    const std::vector<BootstrapInterval> intervals = bootstrap_means(series, 1);
    for (std::size_t i = 0; i < places.size(); ++i) pairs[places[i]].interval = intervals[i];
  }
  std::vector<double> p;
  p.reserve(pairs.size());
  for (const RunPair& pair : pairs) p.push_back(pair.test.p);
  const std::vector<double> corrected = holm(p);
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].holm_p = corrected[i];
  return pairs;
}

std::string pairs_csv(std::span<const RunPair> pairs) {
  std::vector<CsvFields> lines;
  for (const RunPair& pair : pairs) {
    const PairedTest& test = pair.test;
    lines.push_back(
        {{"data", pair.one->data},
         {"backbone", pair.one->backbone},
         {"method", pair.one->method},
         {"variant", pair.one->variant},
         {"budget", pair.one->budget},
         {"other_method", pair.other->method},
         {"other_variant", pair.other->variant},
         {"other_budget", pair.other->budget},
         {"metric", std::string(pair.metric.name)},
         {"users", std::to_string(pair.users)},
         {"mean", shortest_text(test.mean)},
         {"other_mean", shortest_text(test.other_mean)},
         {"difference", shortest_text(test.difference)},
         {"difference_percent", shortest_text(pair.percent(test.difference))},
         {"low_percent", shortest_text(pair.percent(pair.interval.low))},
         {"high_percent", shortest_text(pair.percent(pair.interval.high))},
         {"cohens_d", shortest_text(test.effect)},
         {"t", shortest_text(test.t)},
         {"p", shortest_text(test.p)},
         {"p_holm", shortest_text(pair.holm_p)},
         {"seeds", std::to_string(pair.seeds)},
         {"seeds_better", std::to_string(pair.seeds_better)},
         {"seeds_mean_percent", shortest_text(pair.percent(pair.over_seeds.mean))},
         {"seeds_deviation_percent", shortest_text(pair.percent(pair.over_seeds.deviation))}});
  }
  return csv_text(lines);
}

}  // namespace bet
