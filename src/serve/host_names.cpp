#include "serve/host_names.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/error.h"

namespace bet {
namespace {

// Unreserved characters, sub-delims and '%' of RFC 3986: what a name is made of.
bool is_name_char(char c) {
  return is_digit(c) || is_letter(c) ||
         (c != '\0' && std::string_view("-._~%!$&'()*+,;=").find(c) != std::string_view::npos);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return result;
}

bool is_v6(const std::string& text) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

std::string checked_name(const std::string& given) {
  const std::string name = is_v6(given) ? str_cat('[', given, ']') : given;
  const std::optional<std::string_view> host = host_of(name);
  BET_CHECK(!name.empty() && host && host->size() == name.size(), "allowed host ", in_quotes(given),
            ": expected a name or an address, without port");
  return lower(name);
}

}  // namespace

std::optional<std::string_view> host_of(std::string_view authority) {
  std::size_t end = 0;
  if (authority.starts_with('[')) {
    end = authority.find(']');
    if (end == std::string_view::npos || !is_v6(std::string(authority.substr(1, end - 1)))) {
      return std::nullopt;
    }
    ++end;
  } else {
    while (end < authority.size() && is_name_char(authority[end])) ++end;
  }
  const std::string_view port = authority.substr(end);
  const bool is_good = port.empty() || (port.size() <= 6 && port[0] == ':' &&
                                        std::all_of(port.begin() + 1, port.end(), is_digit));
  return is_good ? std::optional(authority.substr(0, end)) : std::nullopt;
}

bool is_loopback_host(std::string_view host) {
  const std::string text = lower(host);
  if (text == "localhost") return true;
  if (text.starts_with('[') && text.ends_with(']')) {
    in6_addr address{};
    return ::inet_pton(AF_INET6, text.substr(1, text.size() - 2).c_str(), &address) == 1 &&
           IN6_IS_ADDR_LOOPBACK(&address);
  }
  in_addr address{};
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24U) == 127;
}

HostCheck::HostCheck(bool is_loopback_server, const std::vector<std::string>& names)
    : allows_all_(!is_loopback_server && names.empty()) {
  for (const std::string& name : names) names_.push_back(checked_name(name));
}

bool HostCheck::allows(const std::optional<std::string>& authority) const {
  if (allows_all_) return true;
  if (!authority) return names_.empty();
  const std::optional<std::string_view> host = host_of(*authority);
  return host && (is_loopback_host(*host) ||
                  std::find(names_.begin(), names_.end(), lower(*host)) != names_.end());
}

}  // namespace bet
