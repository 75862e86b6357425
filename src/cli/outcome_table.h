#pragma once

#include <string>

#include "run/fit_report.h"

namespace bet {

// The chosen plan beside full size, equal sizes and popularity, as far as the run measured them:
// lines of columns, each ended. The files of tables that were not written are as large as if
// nothing else differed, and marked with ~.
std::string outcome_table(const FitReport& report);

}  // namespace bet
