#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bet {

// The text with every character that has a meaning in HTML replaced, in elements and in attributes.
std::string escaped(std::string_view text);

// "0.1234": a number of quality, or of a chart, with so many digits behind the point.
std::string fixed_text(double value, int digits = 4);

// "42.1 %" of a share.
std::string percent_text(double share);

// "1.2 MB", "34 kB", "512 bytes": of decimal units.
std::string short_bytes(std::uint64_t bytes);

}  // namespace bet
