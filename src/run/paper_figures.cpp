#include "run/paper_figures.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "base/option.h"
#include "run/paper_csv.h"

namespace bet {
namespace {

using PaperRow = std::map<std::string, std::string, std::less<>>;

// Plain CSV: no quotes in these files.
std::vector<PaperRow> rows_of(const char* csv) {
  const auto split = [](const std::string& line) {
    std::vector<std::string> values;
    std::istringstream in(line);
    for (std::string value; std::getline(in, value, ',');) values.push_back(value);
    return values;
  };
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = split(line);
  std::vector<PaperRow> rows;
  while (std::getline(lines, line)) {
    const std::vector<std::string> values = split(line);
    PaperRow& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = values.at(i);
  }
  return rows;
}

std::string sparsity_of(std::string_view budget) {
  return budget == "20%" ? "80%" : budget == "10%" ? "90%" : budget == "5%" ? "95%" : "";
}

const PaperRow* find_row(
    const std::vector<PaperRow>& rows,
    std::initializer_list<std::pair<std::string_view, std::string_view>> wanted) {
  const auto found = std::ranges::find_if(rows, [&](const PaperRow& row) {
    return std::ranges::all_of(
        wanted, [&](const auto& one) { return row.find(one.first)->second == one.second; });
  });
  return found != rows.end() ? &*found : nullptr;
}

std::optional<PaperFigure> figure_at(const PaperRow* row, std::string_view metric) {
  if (row == nullptr) return std::nullopt;
  const auto found = row->find(metric);
  if (found == row->end()) return std::nullopt;
  return PaperFigure{found->second, parse_real(found->second)};
}

bool chooses_its_size(std::string_view method) { return method == "esapn" || method == "optembed"; }

const PaperRow* table1_row(std::string_view data, std::string_view backbone,
                           std::string_view method, std::string_view budget) {
  static const std::vector<PaperRow> rows = rows_of(kPaperTable1);
  if (chooses_its_size(method)) {
    if (!budget.empty()) return nullptr;
    return find_row(rows, {{"dataset", data}, {"backbone", backbone}, {"method", method}});
  }
  return find_row(rows, {{"dataset", data},
                         {"backbone", backbone},
                         {"method", method},
                         {"sparsity", sparsity_of(budget)}});
}

}  // namespace

std::optional<PaperFigure> paper_table1(std::string_view data, std::string_view backbone,
                                        std::string_view method, std::string_view budget,
                                        std::string_view metric) {
  static const std::vector<PaperRow> misprints = rows_of(kPaperMisprints);
  std::optional<PaperFigure> figure = figure_at(table1_row(data, backbone, method, budget), metric);
  if (!figure) return figure;
  const PaperRow* const misprint = find_row(misprints, {{"dataset", data},
                                                        {"backbone", backbone},
                                                        {"method", method},
                                                        {"sparsity", sparsity_of(budget)},
                                                        {"metric", metric},
                                                        {"printed", figure->text}});
  if (misprint == nullptr) return figure;
  const std::string& meant = misprint->find("meant")->second;
  return PaperFigure{"(" + meant + ")", parse_real(meant)};
}

std::string paper_sparsity(std::string_view data, std::string_view backbone,
                           std::string_view method) {
  if (!chooses_its_size(method)) return "";
  const PaperRow* const row = table1_row(data, backbone, method, "");
  return row != nullptr ? row->find("sparsity")->second : "";
}

std::optional<PaperFigure> paper_p_value(std::string_view data, std::string_view backbone,
                                         std::string_view budget, std::string_view metric) {
  static const std::vector<PaperRow> rows = rows_of(kPaperTable1P);
  return figure_at(
      find_row(rows,
               {{"dataset", data}, {"backbone", backbone}, {"sparsity", sparsity_of(budget)}}),
      metric);
}

std::optional<PaperFigure> paper_table2(std::string_view data, std::string_view selection,
                                        std::string_view budget, std::string_view metric) {
  static const std::vector<PaperRow> rows = rows_of(kPaperTable2);
  return figure_at(
      find_row(rows,
               {{"dataset", data}, {"selection", selection}, {"sparsity", sparsity_of(budget)}}),
      metric);
}

}  // namespace bet
