// make_page [REPORT]: prints the page of a report.json, or of the sample, for tests in a browser.
#include <fstream>
#include <iostream>

#include "report/report_page.h"
#include "report/sample_report.h"

int main(int argc, char** argv) {
  nlohmann::ordered_json report = bet::test::sample_report();
  if (argc > 1) {
    std::ifstream in(argv[1]);
    report = nlohmann::ordered_json::parse(in);
  }
  std::cout << bet::report_page(report);
  return 0;
}
