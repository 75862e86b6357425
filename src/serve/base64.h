#pragma once

#include <string>
#include <string_view>

namespace bet {

// RFC 4648, with padding, in one line.
std::string base64(std::string_view bytes);

}  // namespace bet
