#pragma once

#include <string>
#include <string_view>

namespace bet {

// Whether the text is well-formed UTF-8 (Unicode, table 3-7).
bool is_utf8(std::string_view text);

// The text as it is where it is UTF-8; else each byte above 0x7e as \xNN, so that texts that differ
// still do.
std::string as_utf8(std::string_view text);

}  // namespace bet
