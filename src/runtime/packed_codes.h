#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/precision.h"

namespace bet {

// The codes of a row in the bytes of its precision, one of those below four bits (docs/format.md).

// Appends value_bytes() of the codes, each below the number of levels.
void append_codes(std::string& bytes, std::span<const std::uint8_t> codes, Precision precision);

// Whether the bytes of a row of `size` codes could have been appended.
bool are_codes(const std::byte* row, std::uint32_t size, Precision precision);

}  // namespace bet
