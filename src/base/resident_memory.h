#pragma once

#include <cstdint>

namespace bet {

// Most memory that this process has held, in bytes. From /proc: what getrusage says outlives exec
// and may be the parent's.
std::uint64_t peak_resident_bytes();

// What it holds now.
std::uint64_t resident_bytes();

}  // namespace bet
