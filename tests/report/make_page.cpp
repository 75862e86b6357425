// make_page [compare|experiment|REPORT]: prints the page of a report.json, or of a sample, for
// tests in a browser.
#include <fstream>
#include <iostream>
#include <string>

#include "report/compare_page.h"
#include "report/experiment_page.h"
#include "report/report_page.h"
#include "report/sample_report.h"

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "compare") {
    std::cout << bet::compare_page(bet::test::sample_comparison());
    return 0;
  }
  if (what == "experiment") {
    std::cout << bet::experiment_page(bet::test::sample_experiment());
    return 0;
  }
  nlohmann::ordered_json report = bet::test::sample_report();
  if (!what.empty()) {
    std::ifstream in(what);
    report = nlohmann::ordered_json::parse(in);
  }
  std::cout << bet::report_page(report);
  return 0;
}
