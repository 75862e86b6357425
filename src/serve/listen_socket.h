#pragma once

#include <cstdint>
#include <string>

#include "base/file_handle.h"

namespace bet {

struct ListenSocket {
  FileHandle handle;    // non-blocking
  std::string address;  // "127.0.0.1:8080", "[::1]:8080": where it listens
  bool is_loopback = false;
};

// A name or an address of either family; port 0: any free one. Throws Error with host and port.
ListenSocket listen_on(const std::string& host, std::uint16_t port);

}  // namespace bet
