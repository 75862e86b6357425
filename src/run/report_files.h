#pragma once

#include <filesystem>

#include "base/run_files.h"
#include "run/fit_report.h"

namespace bet {

// Writes report.html and then report.json: a run that has the latter is complete.
void write_report_files(const FitReport& report, const RunFiles& files);

// Makes report.html of a complete run again, from its report.json, and returns its path. For runs
// of earlier versions, which do not list the sections of the model file, these are taken from the
// file.
std::filesystem::path make_page(const std::filesystem::path& run);

}  // namespace bet
