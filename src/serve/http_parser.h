#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "serve/http_message.h"

namespace bet {

// Requests that follow RFC 9112, and no others: ambiguous ones are refused, because a proxy in
// between might read them differently. Knows nothing of sockets; for one thread.
class RequestParser {
 public:
  enum class State {
    kHead,    // more of the head is needed (perhaps nothing has arrived yet)
    kBody,    // the head is good, more of the body is needed
    kDone,    // request() is complete
    kFailed,  // error() says why; what follows on this connection cannot be understood
  };

  static constexpr std::size_t kMaxHeadBytes = 16'384;
  static constexpr std::size_t kMaxTargetBytes = 8'192;
  static constexpr std::size_t kMaxFields = 100;

  explicit RequestParser(std::size_t max_body_bytes) : max_body_bytes_(max_body_bytes) {}

  // Takes bytes up to the end of the request and returns how many: the rest belongs to the next.
  std::size_t feed(std::string_view bytes);

  State state() const { return state_; }
  bool has_begun() const { return !head_.empty() || state_ != State::kHead; }
  // Whether the client waits for "100 Continue" before it sends its body.
  bool expects_continue() const { return state_ == State::kBody && expects_continue_; }
  const HttpRequest& request() const { return request_; }
  HttpRequest take_request() { return std::move(request_); }
  const HttpResponse& error() const { return error_; }

  // For the next request of the same connection.
  void reset() { *this = RequestParser(max_body_bytes_); }

 private:
  std::size_t feed_head(std::string_view bytes);
  std::size_t feed_body(std::string_view bytes);
  void read_head();
  void read_request_line(std::string_view line);
  void read_target(std::string_view target);
  void read_field(std::string_view line);
  void read_known_field(std::string_view name, std::string_view value);
  void read_connection(std::string_view value);
  void finish_head();

  State state_ = State::kHead;
  std::size_t max_body_bytes_;
  std::string head_;
  HttpRequest request_;
  HttpResponse error_;
  int minor_version_ = 1;
  bool has_host_ = false;  // a Host field
  bool closes_ = false;    // a Connection field asks for it
  bool has_length_ = false;
  bool has_encoding_ = false;
  bool expects_continue_ = false;
  std::size_t body_bytes_ = 0;
};

}  // namespace bet
