#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bet {

// A request that has been answered. Neither query nor body: they name users.
struct AccessEntry {
  std::string_view id;
  std::string_view method;  // empty where the request was malformed
  std::string_view path;    // the same
  int status = 0;
  std::size_t body_bytes = 0;  // of the answer
  double seconds = 0;          // from the last byte of the request to the answer's first
};

// {"time": "2026-11-17T16:20:31.123Z", "id": .., "method": .., "path": .., "status": .., "bytes":
// .., "seconds": ..}, one line.
std::string access_line(const AccessEntry& entry);
// {"time": .., "message": text}, one line.
std::string message_line(std::string_view text);

// The client's X-Request-Id where that is fit for a log (1 to 128 letters, digits and characters of
// -._:+/=), or else a new one: 16 hexadecimal digits. Any thread may call it.
std::string request_id(std::string_view given);

}  // namespace bet
