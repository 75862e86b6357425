#pragma once

#include <map>
#include <string>
#include <string_view>

namespace bet {

using QueryParameters = std::map<std::string, std::string, std::less<>>;

// "a=1&b=x%20y" by name, escapes decoded and '+' read as a blank; values are any bytes. Throws
// Error on an escape that is none and on a name given twice.
QueryParameters parse_query(std::string_view text);

}  // namespace bet
