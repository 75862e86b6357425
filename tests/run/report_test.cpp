#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>

#include "report/html_text.h"
#include "run/equal_sizes.h"
#include "run/export.h"
#include "run/fit.h"
#include "run/fit_command.h"
#include "run/option_table.h"
#include "run/popularity.h"
#include "run/report_files.h"
#include "run/report_json.h"
#include "run/sizes_by_rank.h"
#include "support/temp_folder.h"
#include "support/toy_data.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;
using test::read_file;
using test::TempFolder;

Config small_run(const TempFolder& folder, const std::string& data = "demo") {
  return {{"data", data},
          {"budget", "10%"},
          {"method", "es"},
          {"dim", "16"},
          {"max-steps", "80"},
          {"effort", "quick"},
          {"cache", (folder / "cache").string()}};
}

FitResult fit_of(const TempFolder& folder, const Config& config) {
  return fit({options_from(config), folder / "run", FitMode::kOverwrite});
}

// The list is sorted once, and each user reads it from the top.
TEST(Popularity, IsTheListByNumberOfInteractionsWithoutWhatTheUserHas) {
  const Split split = test::toy_split(120, 80, 500);
  std::vector<std::uint32_t> counts(split.num_items());
  for (UserId user = 0; user < split.num_users(); ++user) {
    for (const ItemId item : split.train_and_validation(user)) ++counts[item];
  }
  std::vector<ItemId> list(split.num_items());
  std::iota(list.begin(), list.end(), 0U);
  std::ranges::stable_sort(list, std::greater<>(), [&](ItemId item) { return counts[item]; });
  const UserQuality quality =
      popularity_quality(split, TrainingPart::kTrainAndValidation, HeldOut::kTest);
  std::size_t next = 0;
  for (UserId user = 0; user < split.num_users(); ++user) {
    const auto held_out = split.test(user);
    if (held_out.empty()) continue;
    const auto seen = split.train_and_validation(user);
    std::uint32_t hits = 0;
    std::uint32_t position = 0;
    for (const ItemId item : list) {
      if (std::ranges::find(seen, item) != seen.end()) continue;
      if (position == kCutoffs.back()) break;
      if (std::ranges::find(held_out, item) != held_out.end()) hits |= 1U << position;
      ++position;
    }
    ASSERT_LT(next, quality.users.size());
    EXPECT_EQ(quality.users[next], user);
    EXPECT_EQ(quality.measures[next], user_metrics(hits, held_out.size())) << "user " << user;
    ++next;
  }
  EXPECT_EQ(next, quality.users.size());
  EXPECT_LT(next, split.num_users()) << "some have no test items";
}

TEST(SizesByRank, BinsHoldEveryRowOnceFromTheMostFrequent) {
  const Split split = test::toy_split(3000, 90, 9000);
  const SizePlan plan = test::toy_plan(split, 12).with_precision(Precision::kInt4);
  const Frequencies frequencies = train_frequencies(split);
  const RunDetails::Sizes sizes = sizes_by_rank(plan, frequencies);
  const auto check = [&](const RunDetails::SideSizes& side, std::span<const std::uint16_t> rows) {
    EXPECT_LE(side.by_rank.size(), 100U);
    std::uint64_t next = 1;
    double frequency = 1e9;
    double sum = 0;
    double bytes = 0;
    for (const RunDetails::RankBin& bin : side.by_rank) {
      EXPECT_EQ(bin.first, next);
      EXPECT_LE(bin.frequency, frequency);
      EXPECT_LE(bin.smallest, bin.size);
      EXPECT_GE(bin.largest, bin.size);
      const auto count = static_cast<double>(bin.last - bin.first + 1);
      sum += count * bin.size;
      bytes += count * bin.bytes;
      next = bin.last + 1;
      frequency = bin.frequency;
    }
    EXPECT_EQ(next, rows.size() + 1);
    EXPECT_NEAR(sum, std::accumulate(rows.begin(), rows.end(), 0.0), 1e-6);
    double expected_bytes = 0;
    for (const std::uint64_t size : rows) {
      expected_bytes += static_cast<double>(row_bytes(Precision::kInt4, size));
    }
    EXPECT_NEAR(bytes, expected_bytes, 1e-6);
    EXPECT_EQ(std::accumulate(side.counts.begin(), side.counts.end(), std::size_t{0}), rows.size());
  };
  check(sizes.users, plan.user_sizes());
  check(sizes.items, plan.item_sizes());
  EXPECT_EQ(sizes.users.by_rank.front().frequency, *std::ranges::max_element(frequencies.users));
}

TEST(FitCommand, MakesTheSameRunAgain) {
  const TempFolder folder;
  Config config = small_run(folder, "it's here.csv");
  config.push_back({"min-rating", "3.5"});
  config.push_back({"no-header", "true"});
  config.push_back({"threads", "1"});
  const FitOptions options = options_from(config);
  const std::string path = std::filesystem::absolute("it's here.csv").string();
  std::string quoted = path;
  quoted.replace(quoted.find('\''), 1, "'\\''");
  EXPECT_EQ(fit_command(options), "bet fit '" + quoted +
                                      "' --method es --effort quick --max-steps 80 --dim 16 "
                                      "--budget 10% --no-header --min-rating 3.5");
  EXPECT_EQ(fit_command(options), fit_command(with_defaults(options)))
      << "a run that is resumed knows the resolved options only";
}

TEST(Report, HoldsWhatThePageShows) {
  const TempFolder folder;
  const FitResult result = fit_of(folder, small_run(folder));
  const Json report = Json::parse(read_file(result.folder / "report.json"));

  std::uint64_t bytes = 0;
  for (const Json& section : report["sections"]) bytes += section["bytes"].get<std::uint64_t>();
  EXPECT_EQ(bytes, report["used"]["file_bytes"]);
  EXPECT_EQ(bytes, std::filesystem::file_size(result.folder / "model.bet"));

  double recall = 0;
  double floor = 0;
  std::uint64_t users = 0;
  std::uint64_t most = 0;
  for (const Json& group : report["activity"]) {
    const auto count = group["users"].get<std::uint64_t>();
    EXPECT_GT(group["fewest"].get<std::uint64_t>(), most);
    most = group["most"];
    users += count;
    recall += static_cast<double>(count) * group["test"]["recall@20"].get<double>();
    floor += static_cast<double>(count) * group["popularity"]["recall@20"].get<double>();
  }
  EXPECT_EQ(report["activity"].size(), 4U);
  EXPECT_NEAR(recall / static_cast<double>(users), report["test"]["recall@20"].get<double>(), 1e-9);
  EXPECT_NEAR(floor / static_cast<double>(users),
              report["popularity"]["test"]["recall@20"].get<double>(), 1e-9);
  EXPECT_GT(report["test"]["recall@20"], report["popularity"]["test"]["recall@20"]);

  EXPECT_EQ(report["equal"]["validation"], report["validation"]) << "es has equal sizes";
  EXPECT_EQ(report["equal"]["params"], report["used"]["params"]);
  EXPECT_EQ(report["full_table"]["params"],
            16 * (report["dataset"]["users"].get<int>() + report["dataset"]["items"].get<int>()));
  EXPECT_EQ(report["curves"]["train"].back()["validation"], report["validation"]);
  EXPECT_EQ(report["curves"]["final"].back()["step"], report["steps"]["final"]);
}

TEST(Report, ComparesTheChosenPlanWithEqualSizesOfTheSameRung) {
  const TempFolder folder;
  Config config = small_run(folder);
  std::erase_if(config, [](const ConfigEntry& entry) { return entry.key == "method"; });
  config.push_back({"iterations", "2"});
  config.push_back({"loss", "bpr"});
  const FitResult result = fit_of(folder, config);
  const Json report = report_json(result.report);
  ASSERT_TRUE(report["equal"].contains("search")) << report["equal"];
  const Json& search = report["equal"]["search"];
  double equal = 0;
  double chosen = 0;
  for (std::size_t i = report["length_trials"]; i < report["trials"].size(); ++i) {
    const Json& trial = report["trials"][i];
    if (trial["steps"] != search["steps"] || trial["fold"] != 0) continue;
    const double score = trial["fitness"];
    if (trial["plan"] == 0) equal = std::max(equal, score);  // the first rule is es
    if (trial["plan"] == report["chosen"]["plan"]) chosen = std::max(chosen, score);
  }
  EXPECT_EQ(search["score"], equal);
  EXPECT_EQ(search["chosen"], chosen);
}

TEST(ReportFiles, ThePageIsMadeAgainFromTheReport) {
  const TempFolder folder;
  std::string lines = "user,item\n";
  for (int user = 0; user < 40; ++user) {
    for (int item = 0; item < 12; ++item) {
      lines += std::to_string(user) + "," + std::to_string((user * 3 + item * item) % 50) + "\n";
    }
  }
  const std::string name = "<script>x&";
  const FitResult result =
      fit_of(folder, small_run(folder, folder.write(name + ".csv", lines).string()));
  const std::filesystem::path path = result.folder / "report.html";
  const std::string page = read_file(path);
  EXPECT_NE(page.find("<h1>" + escaped(name) + "</h1>"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_EQ(make_page(result.folder), path);
  EXPECT_EQ(read_file(path), page);

  // A report of an earlier version: the sections come from the file.
  Json report = Json::parse(read_file(result.folder / "report.json"));
  for (const char* key : {"sections", "sizes", "activity", "popularity", "equal", "full_table",
                          "curves", "command"}) {
    EXPECT_EQ(report.erase(key), 1U) << key;
  }
  std::ofstream(result.folder / "report.json") << report;
  make_page(result.folder);
  const std::string earlier = read_file(path);
  EXPECT_NE(earlier.find("<h2>Where the bytes go</h2>"), std::string::npos);
  EXPECT_EQ(earlier.find("<h2>Sizes</h2>"), std::string::npos);
}

TEST(ReportFiles, AnExportDescribesTheNewFile) {
  const TempFolder folder;
  const FitResult result = fit_of(folder, small_run(folder));
  const std::string page = read_file(result.folder / "report.html");
  ExportJob job;
  job.run = result.folder;
  job.precision = Precision::kInt8;
  export_model(job);
  const Json report = Json::parse(read_file(result.folder / "report.json"));
  std::uint64_t bytes = 0;
  for (const Json& section : report["sections"]) bytes += section["bytes"].get<std::uint64_t>();
  EXPECT_EQ(bytes, std::filesystem::file_size(result.folder / "model.bet"));
  EXPECT_NE(read_file(result.folder / "report.html"), page);
}

}  // namespace
}  // namespace bet
