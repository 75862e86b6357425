#pragma once

#include <cstdint>
#include <string>

namespace bet {

// The numeric address of this machine from which it reaches a host (of rank 0) and under which
// machines of the same network reach it. Sends nothing. Throws, naming the host, where there is no
// way to it.
std::string own_address_towards(const std::string& host, std::uint16_t port);

}  // namespace bet
