#include "serve/http_parser.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/error.h"
#include "serve/host_names.h"

namespace bet {
namespace {

// Why a request is refused; never leaves this file.
struct Refusal {
  int status;
  std::string text;
};

template <typename... Parts>
[[noreturn]] void refuse(int status, Parts&&... parts) {
  throw Refusal{status, str_cat(std::forward<Parts>(parts)...)};
}

bool is_token_char(char c) {
  return is_digit(c) || is_letter(c) ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}
bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}
// Control bytes are allowed in a head only as line ends (and tabs inside values).
bool is_head_char(char c) {
  const auto code = static_cast<unsigned char>(c);
  return (code >= 0x20 && code != 0x7f) || c == '\t' || c == '\r' || c == '\n';
}
bool is_target_char(char c) {
  return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7f && c != '#';
}

bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [&](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Checked as bytes arrive, so that a client that does not speak HTTP is refused at once.
void check_head_chars(std::string_view head, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    const bool is_bare = head[i] == '\n' && (i == 0 || head[i - 1] != '\r');
    if (is_bare || !is_head_char(head[i])) {
      refuse(400, "a control byte in the head of the request: ", in_quotes(head.substr(i, 1)));
    }
  }
}

// Removes and returns the text up to the separator, which is removed too; all of it without one.
std::string_view take_until(std::string_view& text, std::string_view separator) {
  const std::size_t at = text.find(separator);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + separator.size());
  return taken;
}

}  // namespace

std::size_t RequestParser::feed(std::string_view bytes) {
  try {
    std::size_t taken = 0;
    if (state_ == State::kHead) taken = feed_head(bytes);
    if (state_ == State::kBody) taken += feed_body(bytes.substr(taken));
    return taken;
  } catch (const Refusal& refusal) {
    state_ = State::kFailed;
    error_ = error_response(refusal.status, refusal.text);
    return bytes.size();
  }
}

std::size_t RequestParser::feed_head(std::string_view bytes) {
  const std::size_t before = head_.size();
  head_ += bytes.substr(0, kMaxHeadBytes + 1 - std::min(before, kMaxHeadBytes));
  // Empty lines before a request are skipped, as RFC 9112 (Section 2.2) asks.
  std::size_t skipped = 0;
  while (std::string_view(head_).substr(skipped).starts_with("\r\n")) skipped += 2;
  head_.erase(0, skipped);
  const std::size_t end = head_.find("\r\n\r\n", before < 3 ? 0 : before - 3);
  check_head_chars(head_, skipped > 0 ? 0 : before, std::min(head_.size(), end));
  if (end == std::string::npos) {
    if (head_.size() > kMaxHeadBytes) {
      const bool in_first_line = head_.find("\r\n") == std::string::npos;
      refuse(in_first_line ? 414 : 431, "the head of the request has more than ", kMaxHeadBytes,
             " bytes");
    }
    return bytes.size();
  }
  const std::size_t taken = end + 4 + skipped - before;
  head_.resize(end);
  read_head();
  return taken;
}

std::size_t RequestParser::feed_body(std::string_view bytes) {
  const std::size_t taken = std::min(bytes.size(), body_bytes_ - request_.body.size());
  request_.body += bytes.substr(0, taken);
  if (request_.body.size() == body_bytes_) state_ = State::kDone;
  return taken;
}

void RequestParser::read_head() {
  std::string_view rest = head_;
  read_request_line(take_until(rest, "\r\n"));
  std::size_t fields = 0;
  while (!rest.empty()) {
    if (++fields > kMaxFields) refuse(431, "more than ", kMaxFields, " header fields");
    read_field(take_until(rest, "\r\n"));
  }
  finish_head();
}

void RequestParser::read_request_line(std::string_view line) {
  std::string_view rest = line;
  const std::string_view method = take_until(rest, " ");
  const std::string_view target = take_until(rest, " ");
  if (!is_token(method) || rest.empty()) {
    refuse(400, "not a request line: ", in_quotes(line));
  }
  if (rest.size() != 8 || !rest.starts_with("HTTP/") || !is_digit(rest[5]) || rest[6] != '.' ||
      !is_digit(rest[7])) {
    refuse(400, "not an HTTP version: ", in_quotes(rest));
  }
  if (rest[5] != '1') refuse(505, in_quotes(rest), ": only HTTP/1.1 and HTTP/1.0 are supported");
  minor_version_ = rest[7] - '0';
  request_.keep_alive = minor_version_ >= 1;
  if (target.size() > kMaxTargetBytes) {
    refuse(414, "the target has ", target.size(), " bytes, more than ", kMaxTargetBytes);
  }
  request_.method = method;
  read_target(target);
}

void RequestParser::read_target(std::string_view target) {
  constexpr std::string_view kScheme = "http://";
  const std::string_view whole = target;
  const bool is_absolute = same_word(target.substr(0, kScheme.size()), kScheme);
  if (is_absolute) {
    target.remove_prefix(kScheme.size());
    const std::string_view authority = target.substr(0, target.find_first_of("/?"));
    target.remove_prefix(authority.size());
    const auto host = host_of(authority);
    if (!host || host->empty()) {
      refuse(400, "the target has no valid host: ", in_quotes(whole));
    }
    request_.host = authority;
  }
  const bool has_form = is_absolute || target.starts_with('/');
  if (!has_form || !std::all_of(target.begin(), target.end(), is_target_char)) {
    refuse(400, "the target is not of the form /path?query or http://host/path?query: ",
           in_quotes(whole));
  }
  const std::size_t mark = target.find('?');
  request_.path = target.substr(0, mark);
  if (request_.path.empty()) request_.path = "/";
  if (mark != std::string_view::npos) request_.query = target.substr(mark + 1);
}

void RequestParser::read_field(std::string_view line) {
  // A line that begins with a blank would continue the one before (obs-fold): its name is no token.
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) ||
      line.find_first_of("\r\n") != std::string_view::npos) {
    refuse(400, "not a header field: ", in_quotes(line));
  }
  read_known_field(line.substr(0, colon), trimmed(line.substr(colon + 1)));
}

void RequestParser::read_known_field(std::string_view name, std::string_view value) {
  if (same_word(name, "Host")) {
    if (has_host_) refuse(400, "more than one Host field");
    has_host_ = true;
    if (!host_of(value)) refuse(400, "Host ", in_quotes(value), " is not of the form host:port");
    // The authority of the target takes precedence (RFC 9112, Section 3.2.2).
    if (!request_.host) request_.host = value;
  } else if (same_word(name, "Content-Length")) {
    if (has_length_) refuse(400, "more than one Content-Length field");
    has_length_ = true;
    if (value.empty() || !std::all_of(value.begin(), value.end(), is_digit)) {
      refuse(400, "Content-Length ", in_quotes(value), " is not a number");
    }
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), body_bytes_);
    if (error != std::errc() || body_bytes_ > max_body_bytes_) {
      refuse(413, "a body of ", value.substr(0, 40), " bytes, more than ", max_body_bytes_);
    }
  } else if (same_word(name, "Transfer-Encoding")) {
    has_encoding_ = true;
  } else if (same_word(name, "Connection")) {
    read_connection(value);
  } else if (same_word(name, "Authorization")) {
    if (!request_.authorization.empty()) refuse(400, "more than one Authorization field");
    request_.authorization = value;
  } else if (same_word(name, "Content-Type")) {
    request_.content_type = value;
  } else if (same_word(name, "X-Request-Id")) {
    request_.request_id = value;
  } else if (same_word(name, "Expect")) {
    if (!same_word(value, "100-continue")) refuse(417, "unsupported Expect: ", in_quotes(value));
    expects_continue_ = true;
  }
}

void RequestParser::read_connection(std::string_view value) {
  while (!value.empty()) {
    const std::string_view option = trimmed(take_until(value, ","));
    if (same_word(option, "close")) closes_ = true;
    if (same_word(option, "keep-alive")) request_.keep_alive = true;
  }
}

void RequestParser::finish_head() {
  if (minor_version_ >= 1 && !has_host_) refuse(400, "the Host field is missing");
  if (has_encoding_ && has_length_) refuse(400, "both Content-Length and Transfer-Encoding");
  if (has_encoding_) refuse(411, "a body needs a Content-Length; chunked bodies are not supported");
  // Takes precedence over "keep-alive", in whichever order and field (RFC 9112, Section 9.3).
  if (closes_) request_.keep_alive = false;
  state_ = body_bytes_ > 0 ? State::kBody : State::kDone;
}

}  // namespace bet
