#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bet {

// The published figures of the BET paper (Qu et al., WSDM 2024), from docs/results/paper-*.csv,
// which are built in. Data sets are "gowalla" and "yelp2018", budgets "20%", "10%" and "5%"
// (the paper names what is removed: 80, 90 and 95 %).

struct PaperFigure {
  std::string text;  // as printed; what is meant, in brackets, where that is a misprint
  double value = 0;  // what is meant
};

// Table 1. For methods that choose their own size (esapn, optembed) `budget` is empty. None where
// the paper has no such cell.
std::optional<PaperFigure> paper_table1(std::string_view data, std::string_view backbone,
                                        std::string_view method, std::string_view budget,
                                        std::string_view metric);
// Share of the parameters that esapn and optembed removed: "75%"; empty for others.
std::string paper_sparsity(std::string_view data, std::string_view backbone,
                           std::string_view method);
// The p-value of BET against the best other method, by the paper's paired t-test.
std::optional<PaperFigure> paper_p_value(std::string_view data, std::string_view backbone,
                                         std::string_view budget, std::string_view metric);
// Table 2, of LightGCN; `selection` is "deepsets", "simple" or "random".
std::optional<PaperFigure> paper_table2(std::string_view data, std::string_view selection,
                                        std::string_view budget, std::string_view metric);

}  // namespace bet
