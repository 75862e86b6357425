#include "base/precision_text.h"

namespace bet {

std::string precision_text(const TablePrecision& precision) {
  std::string text(precision_name(precision.users));
  if (precision.items != precision.users)
    text += "/" + std::string(precision_name(precision.items));
  return text;
}

std::optional<TablePrecision> parse_table_precision(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::optional<Precision> users = parse_precision(text.substr(0, slash));
  if (!users) return std::nullopt;
  if (slash == std::string_view::npos) return TablePrecision(*users);
  const std::optional<Precision> items = parse_precision(text.substr(slash + 1));
  if (!items || *items == *users) return std::nullopt;
  return TablePrecision(*users, *items);
}

}  // namespace bet
