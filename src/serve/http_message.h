#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace bet {

// What is asked, as it came: nothing is decoded.
struct HttpRequest {
  std::string method;
  std::string path;   // up to the first '?'
  std::string query;  // behind it
  std::string body;
  bool keep_alive = true;
  // When nobody waits for the answer any more.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

// What stands for "no route of ours" in metrics.
inline constexpr std::string_view kNoRoute = "none";

struct HttpResponse {
  int status = 200;
  std::string_view content_type = "application/json";
  std::string body;
  std::string headers;                // further lines, each with its CRLF
  std::string_view route = kNoRoute;  // for metrics
};

// {"error": text}; bytes of the text that are no UTF-8 are replaced.
HttpResponse error_response(int status, std::string_view text);

// The words that belong to a status; "Error" for one that is never sent.
std::string_view status_words(int status);

// All that goes out: status line, headers, and the body unless `head_only`.
std::string response_bytes(const HttpResponse& response, bool keep_alive, bool head_only);

}  // namespace bet
