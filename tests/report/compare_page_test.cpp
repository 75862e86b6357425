#include "report/compare_page.h"

#include <gtest/gtest.h>

#include "report/experiment_page.h"
#include "report/html_text.h"
#include "report/sample_report.h"

namespace bet {
namespace {

using test::sample_comparison;
using test::sample_experiment;

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
  EXPECT_NE(page.find("The smallest file within 1 % of full size"), std::string::npos);
  EXPECT_NE(page.find("<td>bet against es</td><td>0.1101</td>"), std::string::npos);
  EXPECT_NE(page.find("p: of a test."), std::string::npos);
}

// A comparison that is not complete has no tests yet.
TEST(ComparePage, NeedsCellsAlone) {
  auto comparison = sample_comparison();
  comparison.erase("within");
  comparison.erase("pairs");
  const std::string page = compare_page(comparison);
  EXPECT_NE(page.find("12 runs compared"), std::string::npos);
  EXPECT_EQ(page.find("Smallest file"), std::string::npos);
  EXPECT_EQ(page.find("against the others"), std::string::npos);
}

TEST(ExperimentPage, HasEveryPointAndFoldsLongTables) {
  const std::string page = experiment_page(sample_experiment());
  EXPECT_NE(page.find("<title>90 %, iteration 50: 3.27e-05 ± 4.54e-07</title>"), std::string::npos);
  EXPECT_NE(page.find("<summary>130 rows</summary>"), std::string::npos);
  EXPECT_EQ(page.find("<summary>4 rows</summary>"), std::string::npos);
}

TEST(ComparePage, LoadsNothingAndEscapesNames) {
  for (const std::string& page :
       {compare_page(sample_comparison()), experiment_page(sample_experiment())}) {
    for (const char* part : {"http:", "https:", "src=", "<script", "<link", "url("}) {
      EXPECT_EQ(page.find(part), std::string::npos) << part;
    }
    EXPECT_NE(page.find(escaped(test::kHostileName)), std::string::npos);
  }
}

}  // namespace
}  // namespace bet
