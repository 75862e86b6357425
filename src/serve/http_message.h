#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bet {

// A request as received: nothing is decoded.
struct HttpRequest {
  std::string method;
  std::string path;   // up to the first '?'
  std::string query;  // after it
  // The authority of the target where it has one ("http://host:port/path"), or else the Host field,
  // which only requests of HTTP/1.0 may lack.
  std::optional<std::string> host;
  std::string authorization;  // the field's value; empty: there is none
  std::string content_type;   // the field's value; empty: there is none
  std::string request_id;     // X-Request-Id as given; empty: there is none
  std::string body;
  bool keep_alive = true;
  // After this nobody waits for the answer.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

// The label of requests without a route in metrics.
inline constexpr std::string_view kNoRoute = "none";

struct HttpResponse {
  int status = 200;
  std::string_view content_type = "application/json";
  std::string body;
  std::string headers;                // further lines, each with its CRLF
  std::string_view route = kNoRoute;  // for metrics
};

// {"error": text}; bytes of the text that are not UTF-8 are replaced.
HttpResponse error_response(int status, std::string_view text);

// The reason phrase of a status; "Error" for one that is never sent.
std::string_view status_words(int status);

// The bytes to send: status line, headers, and the body unless `head_only`. `more_headers`: further
// lines, each with its CRLF.
std::string response_bytes(const HttpResponse& response, bool keep_alive, bool head_only,
                           std::string_view more_headers = {});

}  // namespace bet
