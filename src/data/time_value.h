#pragma once

#include <optional>
#include <string_view>

namespace bet {

// Seconds since 1970-01-01T00:00:00Z of an ISO 8601 date or date-time: "2024-03-01",
// "2024-03-01T12:30", "2024-03-01 12:30:05.25", "2024-03-01T12:30:05+02:00" (also "+0200", "+02",
// "Z"). UTC where no offset is given. Nothing for any other text or for a date that does not exist.
std::optional<double> parse_date_time(std::string_view text);

// The value of a time column: a finite number as it is, or parse_date_time(). Throws on any other
// text.
double parse_time(std::string_view text);

}  // namespace bet
