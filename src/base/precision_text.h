#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/precision.h"

namespace bet {

// "int2", or "int2/int1" where users and items differ.
std::string precision_text(const TablePrecision& precision);

// What precision_text() returned; none for other texts.
std::optional<TablePrecision> parse_table_precision(std::string_view text);

}  // namespace bet
