#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_handle.h"

namespace bet::test {

struct RawAnswer {
  int status = 0;  // 0: the connection ended before an answer
  std::string head;
  std::string body;

  bool has_header(std::string_view line) const;  // "Name: value"
};

// A client that sends what it is told and nothing else. Throws Error if it cannot connect; reading
// fails the test after half a minute instead of waiting for ever.
class RawClient {
 public:
  // "127.0.0.1:8080" or "[::1]:8080"
  explicit RawClient(const std::string& address);

  // False if the server has closed the connection.
  bool send(std::string_view bytes);
  // The next answer, by its Content-Length; `without_body` for HEAD.
  RawAnswer receive(bool without_body = false);
  // Whether the other side has ended the connection; waits for that or for a byte.
  bool is_ended();
  // Resets the connection.
  void reset();
  RawAnswer get(std::string_view target) {
    send_get(target);
    return receive();
  }
  void send_get(std::string_view target);

 private:
  bool receive_some();

  FileHandle socket_;
  std::string pending_;
};

}  // namespace bet::test
