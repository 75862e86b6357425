#pragma once

#include <cstdint>
#include <span>

#include "plan/size_plan.h"

namespace bet {

// The plan with at most `bytes` more bytes of its table as stored: rows that have values, and not
// all columns, get the columns of one more step each (those that fill whole bytes), from the most
// to the least frequent row, in rounds. Frequencies are training counts by row. The plan has no
// mask.
SizePlan grown_plan(const SizePlan& plan, std::uint64_t bytes,
                    std::span<const std::uint32_t> user_frequencies,
                    std::span<const std::uint32_t> item_frequencies);

}  // namespace bet
