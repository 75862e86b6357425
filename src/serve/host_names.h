#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bet {

// The host of "host" or "host:port" (RFC 3986, Section 3.2), without the port: a name, an address,
// or an IPv6 address in brackets. May be empty. Nothing if the text has another form.
std::optional<std::string_view> host_of(std::string_view authority);

// "localhost", an address of 127.0.0.0/8, or "[::1]"; letters in either case.
bool is_loopback_host(std::string_view host);

// Decides by the Host of a request whether a server answers it. A web page can make a browser send
// requests to a loopback address under the page's own name (DNS rebinding) and then read the
// answers; the Host of such a request is that name.
class HostCheck {
 public:
  // `names`: names and addresses without port that are answered in addition to loopback ones. A
  // server that does not listen on loopback answers to every Host if there are none. Throws Error
  // on a name that is empty, has a port or is no name.
  HostCheck(bool is_loopback_server, const std::vector<std::string>& names);

  // `authority`: the Host of the request, with or without port; nothing if the request has none,
  // which only HTTP/1.0 allows. No browser sends such a request: it is answered, unless names were
  // given.
  bool allows(const std::optional<std::string>& authority) const;

 private:
  bool allows_all_;
  std::vector<std::string> names_;  // in lower case, IPv6 addresses in brackets
};

}  // namespace bet
