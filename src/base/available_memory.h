#pragma once

#include <cstdint>

namespace bet {

// Memory that this process can still use, in bytes: what the machine has available, and what a
// control group (a container) and a limit on addresses (`ulimit -v`) leave. The largest number
// where nothing tells.
std::uint64_t available_bytes();

}  // namespace bet
