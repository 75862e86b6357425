#pragma once

#include <map>
#include <string>
#include <string_view>

namespace bet {

// By name.
using QueryParameters = std::map<std::string, std::string, std::less<>>;

// Parses "a=1&b=x%20y"; decodes escapes, and '+' as a blank. Values are any bytes. Throws Error on
// an invalid escape and on a name given twice.
QueryParameters parse_query(std::string_view text);

}  // namespace bet
