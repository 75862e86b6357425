#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bet {

// Parses "a=1&b=x%20y" into names and values, in their order; decodes escapes, and '+' as a blank.
// Values are any bytes. Throws Error on an invalid escape.
std::vector<std::pair<std::string, std::string>> parse_query(std::string_view text);

}  // namespace bet
