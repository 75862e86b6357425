#include "base/decimal.h"

#include <gtest/gtest.h>

namespace bet {
namespace {

TEST(Decimal, ReadsPlainDecimals) {
  EXPECT_EQ(parse_decimal("5")->times(1), 5U);
  EXPECT_EQ(parse_decimal("1.8")->times(1'000'000), 1'800'000U);
  EXPECT_EQ(parse_decimal("0.05")->times(100), 5U);
}

TEST(Decimal, RefusesEverythingElse) {
  for (const char* text : {"", ".", "1.", ".5", "-1", "+1", "1e3", " 1", "1 ", "1.2.3", "0x10",
                           "nan", "1234567890123456789"}) {
    EXPECT_FALSE(parse_decimal(text)) << text;
  }
}

TEST(Decimal, FloorsExactlyWhereDoublesWouldNot) {
  // 0.1 * 3 * 10 and 0.29 * 100 are off by one when floored in double arithmetic.
  EXPECT_EQ(parse_decimal("0.29")->times(100), 29U);
  EXPECT_EQ(parse_decimal("8.7")->times(1000, 100), 87U);
  EXPECT_EQ(parse_decimal("0.999999999999999")->times(1), 0U);
}

TEST(Decimal, SaysWhenTheResultDoesNotFit) {
  EXPECT_FALSE(parse_decimal("999999999999999999")->times(1'000'000'000));
}

}  // namespace
}  // namespace bet
