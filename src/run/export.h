#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/precision.h"
#include "run/fit_report.h"

namespace bet {

// Writes the model file of a complete run again.
struct ExportJob {
  std::filesystem::path run;           // its folder, or the model file in it
  std::string data;                    // empty: where the run found it
  std::optional<Precision> precision;  // none: the run's
  std::optional<bool> materialised;    // none: the run's
  bool without_seen = false;           // leave out the items that users have
  std::uint32_t threads = 0;           // 0: one per core
  std::filesystem::path out;           // empty: the run's own file
};

struct ExportResult {
  std::filesystem::path file;
  FitReport report;  // of this file
};

// Where the run's own file is replaced, its report becomes that of the new file.
ExportResult export_model(const ExportJob& job);

}  // namespace bet
