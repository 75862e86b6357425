#include "serve/listen_socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <memory>

#include "base/error.h"
#include "base/files.h"

namespace bet {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { ::freeaddrinfo(addresses); }
};

// Fills in what the system has chosen.
void describe(ListenSocket& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  const bool has_name = ::getsockname(socket.handle.get(), plain, &length) == 0 &&
                        ::getnameinfo(plain, length, host.data(), host.size(), port.data(),
                                      port.size(), NI_NUMERICHOST | NI_NUMERICSERV) == 0;
  BET_CHECK(has_name, "cannot find the address of the socket: ", system_message());
  const bool is_v6 = address.ss_family == AF_INET6;
  socket.address = str_cat(is_v6 ? "[" : "", host.data(), is_v6 ? "]:" : ":", port.data());
  if (is_v6) {
    const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(&address);
    socket.is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
  } else {
    const auto* const v4 = reinterpret_cast<const sockaddr_in*>(&address);
    socket.is_loopback = (ntohl(v4->sin_addr.s_addr) >> 24U) == 127;
  }
}

}  // namespace

ListenSocket listen_on(const std::string& host, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  BET_CHECK(error == 0, "host ", in_quotes(host), ": ",
            error == EAI_SYSTEM ? system_message() : ::gai_strerror(error));
  const std::unique_ptr<addrinfo, FreeAddresses> address(found);
  ListenSocket socket;
  socket.handle = FileHandle(::socket(
      address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, address->ai_protocol));
  const int yes = 1;
  const bool good =
      socket.handle.is_open() &&
      ::setsockopt(socket.handle.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
      ::bind(socket.handle.get(), address->ai_addr, address->ai_addrlen) == 0 &&
      ::listen(socket.handle.get(), SOMAXCONN) == 0;
  BET_CHECK(good, "cannot listen on host ", in_quotes(host), ", port ", port, ": ",
            system_message());
  describe(socket);
  return socket;
}

}  // namespace bet
