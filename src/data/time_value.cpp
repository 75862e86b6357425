#include "data/time_value.h"

#include <charconv>
#include <chrono>
#include <cmath>

#include "base/error.h"

namespace bet {
namespace {

// Removes `count` digits from the front and returns their value; -1 if there are fewer.
int take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return -1;
  int value = 0;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text[0] != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// Removes a fraction such as ".25" from the front; 0 if there is none, nothing if no digit follows
// the point.
std::optional<double> take_fraction(std::string_view& text) {
  double value = 0;
  if (text.empty() || text[0] != '.') return value;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// Seconds ahead of UTC of "Z", "+02:00", "-0530", "+02" or an empty text.
std::optional<int> parse_offset(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z") return 0;
  const bool ahead = text[0] == '+';
  if (!ahead && text[0] != '-') return std::nullopt;
  text.remove_prefix(1);
  const int hours = take_digits(text, 2);
  int minutes = 0;
  if (!text.empty()) {
    take(text, ':');
    minutes = take_digits(text, 2);
  }
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || !text.empty()) return std::nullopt;
  return (ahead ? 60 : -60) * (60 * hours + minutes);
}

// Seconds since midnight UTC of a time such as "12:30:05.25+02:00".
std::optional<double> parse_time_of_day(std::string_view text) {
  const int hours = take_digits(text, 2);
  if (hours < 0 || hours > 23 || !take(text, ':')) return std::nullopt;
  const int minutes = take_digits(text, 2);
  if (minutes < 0 || minutes > 59) return std::nullopt;
  int seconds = 0;
  std::optional<double> fraction = 0.0;
  if (take(text, ':')) {
    seconds = take_digits(text, 2);
    if (seconds < 0 || seconds > 59) return std::nullopt;
    fraction = take_fraction(text);
  }
  const std::optional<int> offset = parse_offset(text);
  if (!fraction || !offset) return std::nullopt;
  return 3600 * hours + 60 * minutes + seconds - *offset + *fraction;
}

}  // namespace

std::optional<double> parse_date_time(std::string_view text) {
  const int year = take_digits(text, 4);
  if (year < 0 || !take(text, '-')) return std::nullopt;
  const int month = take_digits(text, 2);
  if (month < 0 || !take(text, '-')) return std::nullopt;
  const int day = take_digits(text, 2);
  if (day < 0) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  const double midnight = 86400.0 * static_cast<double>(days);
  if (text.empty()) return midnight;
  if (!take(text, 'T') && !take(text, 't') && !take(text, ' ')) return std::nullopt;
  const std::optional<double> time_of_day = parse_time_of_day(text);
  if (!time_of_day) return std::nullopt;
  return midnight + *time_of_day;
}

double parse_time(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(value)) {
    return value;
  }
  const std::optional<double> date = parse_date_time(text);
  BET_CHECK(date.has_value(), "time ", in_quotes(text),
            " is neither a number nor a date such as 2024-03-01 or 2024-03-01T12:30:05Z");
  return *date;
}

}  // namespace bet
