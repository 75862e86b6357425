#pragma once

namespace bet {

// The text of docs/results/paper-*.csv, built in (cmake/paper_csv.cpp.in).
extern const char* const kPaperTable1;
extern const char* const kPaperTable1P;
extern const char* const kPaperTable2;
extern const char* const kPaperMisprints;

}  // namespace bet
