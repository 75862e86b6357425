#include "serve/http_message.h"

#include <array>
#include <ctime>
#include <utility>

#include "base/error.h"
#include "serve/answer.h"

namespace bet {
namespace {

constexpr std::array<std::pair<int, std::string_view>, 17> kStatusWords = {{
    {200, "OK"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
}};

// As RFC 9110 wants it, in any locale.
std::string http_date(std::time_t now) {
  constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                kDays.at(parts.tm_wday), parts.tm_mday, kMonths.at(parts.tm_mon),
                parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text.data();
}

}  // namespace

HttpResponse error_response(int status, std::string_view text) {
  HttpResponse response;
  response.status = status;
  response.body = json_text({{"error", std::string(text)}}) + "\n";
  return response;
}

std::string_view status_words(int status) {
  for (const auto& [code, words] : kStatusWords) {
    if (code == status) return words;
  }
  return "Error";
}

std::string response_bytes(const HttpResponse& response, bool keep_alive, bool head_only,
                           std::string_view more_headers) {
  std::string bytes = str_cat(
      "HTTP/1.1 ", response.status, ' ', status_words(response.status),
      "\r\nDate: ", http_date(std::time(nullptr)), "\r\nContent-Type: ", response.content_type,
      "\r\nContent-Length: ", response.body.size(),
      "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n", response.headers,
      more_headers, "Connection: ", keep_alive ? "keep-alive" : "close", "\r\n\r\n");
  if (!head_only) bytes += response.body;
  return bytes;
}

}  // namespace bet
