#include "report/report_page.h"

#include <gtest/gtest.h>

#include "report/html_text.h"
#include "report/sample_report.h"
#include "report/svg_chart.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;
using test::sample_report;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// Of an element that has this title: the number behind `name="`.
double attribute_of(const std::string& page, const std::string& title, const std::string& name) {
  const std::size_t at = page.find("<title>" + title + "</title>");
  EXPECT_NE(at, std::string::npos) << title;
  if (at == std::string::npos) return 0;
  const std::size_t begin = page.rfind('<', at - 1);
  const std::size_t value = page.find(" " + name + "=\"", begin);
  EXPECT_LT(value, at) << title;
  return std::stod(page.substr(value + name.size() + 3));
}

TEST(HtmlText, EscapesAllThatHasAMeaning) {
  EXPECT_EQ(escaped("a<b>&\"c'd"), "a&lt;b&gt;&amp;&quot;c&#39;d");
}

TEST(HtmlText, ShortBytesHaveThreeDigits) {
  EXPECT_EQ(short_bytes(999), "999 bytes");
  EXPECT_EQ(short_bytes(1000), "1.00 kB");
  EXPECT_EQ(short_bytes(262144), "262 kB");
  EXPECT_EQ(short_bytes(999'999), "1.00 MB");
  EXPECT_EQ(short_bytes(4'986'376), "4.99 MB");
  EXPECT_EQ(short_bytes(18'446'744'073'709'551'615U), "18447 PB");
}

TEST(SvgChart, MarksLieWhereTheirNumbersAre) {
  const std::string linear =
      svg_chart({.title = "t",
                 .x = {.label = "x"},
                 .y = {.label = "y"},
                 .series = {{"s", 1, {{0, 0, "a"}, {5, 2.5, "b"}, {10, 10, "c"}}, true, true}}});
  for (const auto& [axis, share] : {std::pair{"cx", 0.5}, {"cy", 0.25}}) {
    const double a = attribute_of(linear, "a", axis);
    const double b = attribute_of(linear, "b", axis);
    const double c = attribute_of(linear, "c", axis);
    EXPECT_NEAR((b - a) / (c - a), share, 0.002) << axis;
  }
  EXPECT_LT(attribute_of(linear, "a", "cx"), attribute_of(linear, "c", "cx"));
  EXPECT_GT(attribute_of(linear, "a", "cy"), attribute_of(linear, "c", "cy"));

  const std::string log =
      svg_chart({.title = "t",
                 .x = {.label = "x", .log = true},
                 .y = {.label = "y"},
                 .series = {{"s", 1, {{1, 1, "a"}, {10, 2, "b"}, {1000, 3, "c"}}}}});
  const double first = attribute_of(log, "a", "cx");
  EXPECT_NEAR((attribute_of(log, "b", "cx") - first) / (attribute_of(log, "c", "cx") - first),
              1.0 / 3, 0.002);
}

TEST(SvgChart, OneNumberAloneAndNone) {
  for (const double value : {0.0, 7.0, -3.0}) {
    const std::string one = svg_chart({.title = "t",
                                       .x = {},
                                       .y = {.from_zero = true},
                                       .series = {{"s", 1, {{value, value, "a"}}}}});
    EXPECT_EQ(one.find("nan"), std::string::npos) << one;
    EXPECT_EQ(one.find("inf"), std::string::npos) << one;
  }
  EXPECT_EQ(svg_chart({.title = "t", .x = {}, .y = {}, .series = {{"s", 1, {}}}}), "");
}

TEST(ReportPage, LoadsNothingAndHasNoScript) {
  const std::string page = report_page(sample_report());
  for (const char* part : {"http:", "https:", "src=", "<script", "<link", "@import", "url(", "<img",
                           "<iframe", "<object"}) {
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  }
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(ReportPage, NamesAreNoMarkup) {
  const std::string page = report_page(sample_report());
  EXPECT_EQ(page.find(test::kHostileName), std::string::npos);
  EXPECT_GE(count_of(page, escaped(test::kHostileName)), 4U)
      << "title, heading, data, note, command";
}

TEST(ReportPage, HoldsTheNumbersOfTheRun) {
  const Json report = sample_report();
  const std::string page = report_page(report);
  const auto expect = [&](const std::string& text) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  };
  expect("lightgcn within 256KiB reaches recall@20 0.2307 and ndcg@20 0.2176 on test, 1.96 times");
  expect("Used: 262,000 of 262,144 bytes of the table");
  expect("<td>0.1811</td>");                 // full size
  expect("<td>0.1422</td>");                 // equal sizes, in the search
  expect("<td>0.0898</td><td>0.0908</td>");  // popularity
  for (const Json& section : report["sections"]) {
    expect(escaped(section["name"].get<std::string>()) + "</th><td>");
  }
  expect("64b133974d4e2a94f67c50cc6a545724");
  expect("LibTorch 1.13.1");
  expect("<code>" + escaped(report["command"].get<std::string>()) + "</code>");
}

TEST(ReportPage, EveryTrainingOfTheSearchIsAPoint) {
  const Json report = sample_report();
  const std::string page = report_page(report);
  // Of each rung the marks lie in the order of the scores.
  double lowest = 0;
  double highest = 1e9;
  for (const Json& trial : report["trials"]) {
    const std::string title =
        "training " + std::to_string(trial["iteration"].get<int>()) + ", plan " +
        std::to_string(trial["plan"].get<int>()) + " (" + trial["strategy"].get<std::string>() +
        "), " + trial["precision"].get<std::string>() + ": " + fixed_text(trial["fitness"], 5);
    const double y = attribute_of(page, title, "cy");
    if (trial["fitness"] < 0.1) lowest = std::max(lowest, y);
    if (trial["fitness"] > 0.14) highest = std::min(highest, y);
  }
  EXPECT_GT(lowest, highest) << "higher scores are further up";
  for (const Json& trial : report["trials"]) {
    if (trial["predicted"].is_null()) continue;
    attribute_of(page,
                 "iteration " + std::to_string(trial["iteration"].get<int>()) + ": predicted " +
                     fixed_text(trial["predicted"], 5) + ", measured " +
                     fixed_text(trial["fitness"], 5),
                 "cx");
  }
}

TEST(ReportPage, SizesCurvesAndActivityAreDrawn) {
  const Json report = sample_report();
  const std::string page = report_page(report);
  std::size_t bins = 0;
  for (const char* side : {"users", "items"}) bins += report["sizes"][side]["by_rank"].size();
  EXPECT_EQ(count_of(page, "interactions each): mean size "), bins);
  EXPECT_EQ(count_of(page, "interactions each): mean bits "), bins);
  for (const Json& point : report["curves"]["final"]) {
    attribute_of(page,
                 "final training, step " + std::to_string(point["step"].get<int>()) + ": " +
                     fixed_text(point["loss"], 5),
                 "cy");
  }
  EXPECT_EQ(count_of(page, "<title>recall@20, step "), 4U) << "where validation was measured";
  // Bars are as high as their numbers.
  const double first = attribute_of(page, "15–22, this model: 0.3100", "height");
  const double last = attribute_of(page, "121–1,793, this model: 0.1600", "height");
  EXPECT_NEAR(last / first, 0.16 / 0.31, 0.005);
}

// Reports of earlier versions, of other methods, without a budget, without test.
TEST(ReportPage, DoesWithoutWhatAReportDoesNotHave) {
  Json report = sample_report();
  for (const char* key :
       {"full", "loss", "note", "length_trials", "popularity", "full_table", "equal", "activity",
        "sizes", "curves", "sections", "command", "planned_trials"}) {
    report.erase(key);
  }
  for (Json& trial : report["trials"]) trial.erase("plan");
  report["used"].erase("precision");
  EXPECT_NE(report_page(report).find("recall@20 0.2307"), std::string::npos);
  report["trials"] = Json::array();
  report["test"] = nullptr;
  report["budget"] = nullptr;
  const std::string page = report_page(report);
  EXPECT_NE(page.find("lightgcn without a budget reaches recall@20 0.1795"), std::string::npos);
  EXPECT_EQ(page.find("<h2>Search</h2>"), std::string::npos);
  EXPECT_THROW(report_page(Json::object()), Json::exception);
}

TEST(ReportPage, TheBudgetIsOfWhatWasAskedFor) {
  Json report = sample_report();
  report["budget"]["for"] = "file";
  report["budget"]["bytes"] = 500000;
  EXPECT_NE(report_page(report).find("Used: 432,731 of 500,000 bytes of the model file"),
            std::string::npos);
  report["budget"] = {{"requested", "5%"}, {"params", 2000000}, {"bytes", 8000000}};
  EXPECT_NE(report_page(report).find("Used: 1,238,743 of 2,000,000 parameters"), std::string::npos);
}

}  // namespace
}  // namespace bet
