#include "data/plain_number.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace bet {
namespace {

// The plain implementation to compare with.
PlainNumber scan_by_digit(const std::string& text) {
  PlainNumber number;
  while (text[number.length] >= '0' && text[number.length] <= '9') {
    number.value = number.value * 10 + static_cast<std::uint64_t>(text[number.length++] - '0');
  }
  const bool leading_zero = text[0] == '0' && number.length > 1;
  return number.length > 7 || leading_zero ? PlainNumber{} : number;
}

TEST(ScanPlainNumber, EqualsScanningByDigit) {
  std::mt19937 random(1);
  const std::string alphabet = "0123456789012345678901234567890123456789,/:\t\n \xb0\xff";
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (int j = 0; j < 9; ++j) text += alphabet[random() % alphabet.size()];
    const PlainNumber found = scan_plain_number(text.c_str());
    const PlainNumber expected = scan_by_digit(text);
    ASSERT_EQ(found.length, expected.length) << text;
    if (found.length > 0) {
      ASSERT_EQ(found.value, expected.value) << text;
    }
  }
}

}  // namespace
}  // namespace bet
