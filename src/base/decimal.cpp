#include "base/decimal.h"

#include <limits>

namespace bet {

std::optional<std::uint64_t> Decimal::times(std::uint64_t numerator,
                                            std::uint64_t denominator) const {
  __extension__ using Wide = unsigned __int128;
  Wide divisor = denominator;
  for (int i = 0; i < scale; ++i) divisor *= 10;
  const Wide value = Wide{digits} * numerator / divisor;
  if (value > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  constexpr std::size_t kMaxDigits = 18;
  const std::size_t point = text.find('.');
  const bool has_point = point != std::string_view::npos;
  const std::size_t num_digits = text.size() - (has_point ? 1 : 0);
  if (num_digits == 0 || num_digits > kMaxDigits) return std::nullopt;
  if (has_point && (point == 0 || point + 1 == text.size())) return std::nullopt;
  Decimal value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == point) continue;
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value.digits = value.digits * 10 + static_cast<std::uint64_t>(text[i] - '0');
  }
  if (has_point) value.scale = static_cast<int>(text.size() - point - 1);
  return value;
}

}  // namespace bet
