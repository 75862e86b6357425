#include "run/report_files.h"

#include "base/error.h"
#include "base/files.h"
#include "report/report_page.h"
#include "run/error_kinds.h"
#include "run/file_details.h"
#include "run/report_json.h"
#include "run/run_folder.h"

namespace bet {
namespace {

// From the text of the report, in which names are UTF-8 whatever they were.
std::string page_of(const FitReport& report) {
  return report_page(nlohmann::ordered_json::parse(json_text(report_json(report))));
}

}  // namespace

void write_report_files(const FitReport& report, const RunFiles& files) {
  write_file(files.page(), page_of(report));
  write_report(report, files.report());
}

std::filesystem::path make_page(const std::filesystem::path& run) {
  return with_error_kinds([&] {
    const RunFolder folder = RunFolder::open(run);
    const RunFiles& files = folder.files();
    BET_CHECK(std::filesystem::exists(files.report()), run.string(),
              ": is not complete; `bet resume ", run.string(), "` continues it");
    FitReport report = read_report(files.report());
    if (report.details.sections.empty() && std::filesystem::exists(files.model())) {
      report.details.sections = file_sections(files.model());
    }
    write_file(files.page(), page_of(report));
    return files.page();
  });
}

}  // namespace bet
