#include "cli/outcome_table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <vector>

#include "base/precision_text.h"
#include "base/with_commas.h"

namespace bet {
namespace {

constexpr const char* kUnknown = "-";

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4f", value);
  return text.data();
}

// What is known of a row.
struct Outcome {
  std::string name;
  std::optional<std::uint64_t> bytes = {};
  bool is_written = false;
  std::optional<Metrics> validation = {};
  std::optional<Metrics> test = {};
  std::optional<double> search = {};
};

std::vector<Outcome> outcomes(const FitReport& report) {
  const RunDetails& details = report.details;
  std::vector<Outcome> rows;
  const auto some = [](const Metrics& metrics) {
    return metrics.num_users > 0 ? std::optional(metrics) : std::nullopt;
  };
  if (details.full_table) {
    rows.push_back({.name = "full size",
                    .bytes = details.full_table->bytes,
                    .validation = report.full_validation});
  }
  std::optional<double> chosen_score;
  // Where the chosen plan has equal sizes itself, its own row says all.
  const bool is_equal = details.equal && details.equal->validation == report.validation;
  if (details.equal && !is_equal) {
    const RunDetails::EqualSizes& equal = *details.equal;
    Outcome row = {.name = "equal sizes, " + std::to_string(equal.size) + " " +
                           precision_text(equal.precision),
                   .bytes = equal.table.bytes,
                   .validation = equal.validation};
    if (equal.search) {
      row.search = equal.search->score;
      chosen_score = equal.search->chosen;
    }
    rows.push_back(std::move(row));
  }
  rows.push_back({.name = "chosen plan",
                  .bytes = report.used.bytes,
                  .is_written = true,
                  .validation = some(report.validation),
                  .test = some(report.test),
                  .search = chosen_score});
  if (details.popularity) {
    rows.push_back({.name = "popularity",
                    .validation = some(details.popularity->validation),
                    .test = some(details.popularity->test)});
  }
  return rows;
}

using Cells = std::vector<std::string>;

Cells cells_of(const Outcome& row, const FitReport& report, bool with_search) {
  Cells cells = {row.name};
  if (row.bytes) {
    const std::uint64_t others = report.used.file_bytes - report.used.bytes;
    cells.push_back(with_commas(*row.bytes));
    cells.push_back((row.is_written ? "" : "~") + with_commas(*row.bytes + others));
  } else {
    cells.insert(cells.end(), {kUnknown, kUnknown});
  }
  for (const std::optional<Metrics>& metrics : {row.validation, row.test}) {
    cells.push_back(metrics ? number_text(metrics->recall[2]) : kUnknown);
    cells.push_back(metrics ? number_text(metrics->ndcg[2]) : kUnknown);
  }
  if (with_search) cells.push_back(row.search ? number_text(*row.search) : kUnknown);
  return cells;
}

// The first column to the left, the others to the right.
std::string lines_of(const std::vector<Cells>& table) {
  std::vector<std::size_t> widths(table.front().size());
  for (const Cells& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Cells& row : table) {
    text += row[0] + std::string(widths[0] - row[0].size(), ' ');
    for (std::size_t i = 1; i < row.size(); ++i) {
      text += "  " + std::string(widths[i] - row[i].size(), ' ') + row[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

}  // namespace

std::string outcome_table(const FitReport& report) {
  const auto& equal = report.details.equal;
  const bool with_search = equal && equal->search;
  std::vector<Cells> table = {{"", "table", "file", "validation", "", "test", ""},
                              {"", "bytes", "bytes", "R@20", "N@20", "R@20", "N@20"}};
  if (with_search) {
    table[0].emplace_back("search score");
    table[1].push_back("at " + with_commas(equal->search->steps) + " steps");
  }
  for (const Outcome& row : outcomes(report)) table.push_back(cells_of(row, report, with_search));
  return lines_of(table);
}

}  // namespace bet
