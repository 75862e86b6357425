#include "report/compare_page.h"

#include <gtest/gtest.h>

#include "report/html_text.h"
#include "report/sample_report.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

Json cell(const char* backbone, const char* method, const char* budget, double bytes,
          double recall) {
  const auto spread = [](double mean) { return Json{{"mean", mean}, {"deviation", 0.0123}}; };
  return {{"backbone", backbone},
          {"method", method},
          {"budget", budget},
          {"runs", 3},
          {"bytes", bytes},
          {"file_bytes", bytes + 1000},
          {"validation_recall@20", spread(recall - 0.01)},
          {"test_recall@20", spread(recall)},
          {"test_ndcg@20", spread(recall / 2)}};
}

Json sample_comparison() {
  return {
      {"dataset", test::sample_report()["dataset"]},
      {"cells",
       {cell("lightgcn", "bet", "1%B", 50'000, 0.15), cell("lightgcn", "bet", "5%B", 250'000, 0.18),
        cell("lightgcn", "es", "1%B", 49'000, 0.11), cell("mf", "es", "1%B", 49'000, 0.09)}}};
}

TEST(ComparePage, HoldsTheNumbersWithTheirSpread) {
  const std::string page = compare_page(sample_comparison());
  EXPECT_NE(page.find("<title>bet, 5%B, 250,000 bytes: 0.1800 ± 0.0123</title>"),
            std::string::npos);
  EXPECT_NE(page.find("recall@20 on test, mf"), std::string::npos) << "a chart for each backbone";
  EXPECT_NE(page.find("12 runs compared"), std::string::npos);
  std::size_t bars = 0;
  for (std::size_t at = page.find("class=\"spread\""); at != std::string::npos;
       at = page.find("class=\"spread\"", at + 1)) {
    ++bars;
  }
  EXPECT_EQ(bars, 8U) << "four cells, two metrics";
}

TEST(ComparePage, LoadsNothingAndEscapesNames) {
  const std::string page = compare_page(sample_comparison());
  for (const char* part : {"http:", "https:", "src=", "<script", "<link", "url("}) {
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  }
  EXPECT_NE(page.find(escaped(test::kHostileName)), std::string::npos);
}

}  // namespace
}  // namespace bet
