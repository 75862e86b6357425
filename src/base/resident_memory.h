#pragma once

#include <cstdint>

namespace bet {

// The peak resident memory of this process, in bytes. From /proc: the value of getrusage survives
// exec and may be the parent's.
std::uint64_t peak_resident_bytes();

// The current resident memory of this process, in bytes.
std::uint64_t resident_bytes();

}  // namespace bet
