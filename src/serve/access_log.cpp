#include "serve/access_log.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <random>

#include "serve/answer.h"

namespace bet {
namespace {

constexpr std::size_t kLongestId = 128;

bool is_id_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("-._:+/=").find(c) != std::string_view::npos;
}

std::string time_text() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
                parts.tm_sec, static_cast<int>(milliseconds));
  return text.data();
}

std::uint64_t random_start() {
  std::random_device device;
  return std::uint64_t{device()} << 32U | device();
}

// A permutation of 64 bits (splitmix64): different numbers stay different and look unrelated.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

}  // namespace

std::string access_line(const AccessEntry& entry) {
  return json_text({{"time", time_text()},
                    {"id", std::string(entry.id)},
                    {"method", std::string(entry.method)},
                    {"path", std::string(entry.path)},
                    {"status", entry.status},
                    {"bytes", entry.body_bytes},
                    {"seconds", entry.seconds}}) +
         "\n";
}

std::string message_line(std::string_view text) {
  return json_text({{"time", time_text()}, {"message", std::string(text)}}) + "\n";
}

std::string request_id(std::string_view given) {
  if (!given.empty() && given.size() <= kLongestId &&
      std::all_of(given.begin(), given.end(), is_id_char)) {
    return std::string(given);
  }
  static std::atomic<std::uint64_t> next = random_start();
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx",
                static_cast<unsigned long long>(mixed(next++)));
  return digits.data();
}

}  // namespace bet
