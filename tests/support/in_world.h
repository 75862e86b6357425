#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "ranks/world.h"

// Worlds of ranks that are threads of the test.
namespace bet::test {

inline std::uint16_t bind_any_port(int handle, in_addr_t address) {
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(address);
  socklen_t size = sizeof(place);
  EXPECT_EQ(::bind(handle, reinterpret_cast<const sockaddr*>(&place), size), 0);
  EXPECT_EQ(::getsockname(handle, reinterpret_cast<sockaddr*>(&place), &size), 0);
  return ntohs(place.sin_port);
}

// That nothing listens to now.
inline std::uint16_t free_port() {
  const int handle = ::socket(AF_INET, SOCK_STREAM, 0);
  const std::uint16_t port = bind_any_port(handle, INADDR_LOOPBACK);
  ::close(handle);
  return port;
}

inline PlaceInWorld place_of(std::uint32_t rank, std::uint32_t size, std::uint16_t port) {
  PlaceInWorld place;
  place.rank = rank;
  place.size = size;
  place.host = "127.0.0.1";
  place.port = port;
  return place;
}

// Runs `work` as the ranks of a world, each in a thread of its own.
inline void in_world(std::uint32_t size, const std::function<void(World&)>& work,
                     std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
  const std::uint16_t port = free_port();
  std::vector<std::thread> ranks;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] {
      World world(place_of(rank, size, port), timeout);
      work(world);
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

}  // namespace bet::test
