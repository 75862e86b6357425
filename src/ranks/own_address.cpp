#include "ranks/own_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace bet {
namespace {

// Empty, with errno set, where the system knows no way.
std::string source_address(const addrinfo& target) {
  const int socket = ::socket(target.ai_family, target.ai_socktype, target.ai_protocol);
  if (socket < 0) return "";
  sockaddr_storage own{};
  socklen_t size = sizeof(own);
  char text[NI_MAXHOST] = "";
  // Of datagrams this only chooses the address to send from.
  if (::connect(socket, target.ai_addr, target.ai_addrlen) == 0 &&
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) == 0) {
    ::getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text, sizeof(text), nullptr, 0,
                  NI_NUMERICHOST);
  }
  const int error = errno;
  ::close(socket);
  errno = error;
  return text;
}

}  // namespace

std::string own_address_towards(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  BET_CHECK(error == 0, in_quotes(host), ": ", ::gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> targets(found, ::freeaddrinfo);
  for (const addrinfo* target = found; target != nullptr; target = target->ai_next) {
    if (std::string address = source_address(*target); !address.empty()) return address;
  }
  fail("this machine has no address from which ", in_quotes(host),
       " is reached: ", std::strerror(errno));
}

}  // namespace bet
