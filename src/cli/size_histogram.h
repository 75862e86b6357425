#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace bet {

// The sizes of a side's rows in a line, from the number of rows of each size: "671 rows, 12 empty,
// sizes 1 ▂█▄▁·· 128". A block is as high as the number of rows among some sizes; a dot has none.
std::string size_histogram(std::span<const std::uint32_t> counts);

}  // namespace bet
