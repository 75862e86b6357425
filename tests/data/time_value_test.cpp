#include "data/time_value.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace bet {
namespace {

TEST(TimeValue, DatesAndDateTimesAreSecondsSince1970) {
  // date -u -d 2024-03-01T12:30:05Z +%s
  constexpr double kMarch = 1'709'296'205;
  EXPECT_EQ(parse_date_time("1970-01-01"), 0.0);
  EXPECT_EQ(parse_date_time("1969-12-31T23:59:59Z"), -1.0);
  EXPECT_EQ(parse_date_time("2024-03-01"), 1'709'251'200.0);
  EXPECT_EQ(parse_date_time("2024-03-01T12:30:05Z"), kMarch);
  EXPECT_EQ(parse_date_time("2024-03-01t12:30:05z"), kMarch);
  EXPECT_EQ(parse_date_time("2024-03-01 12:30:05"), kMarch);
  EXPECT_EQ(parse_date_time("2024-03-01T12:30"), kMarch - 5);
  EXPECT_EQ(parse_date_time("2024-03-01 12:30:05.25"), kMarch + 0.25);
  EXPECT_EQ(parse_date_time("2024-03-01T12:30:05.500000+00:00"), kMarch + 0.5);
  EXPECT_EQ(parse_date_time("2024-03-01T14:30:05+02:00"), kMarch);
  EXPECT_EQ(parse_date_time("2024-03-01T14:30:05+0200"), kMarch);
  EXPECT_EQ(parse_date_time("2024-03-01T14:30:05+02"), kMarch);
  EXPECT_EQ(parse_date_time("2024-02-29T21:00:05-15:30"), kMarch);
}

TEST(TimeValue, WhatDoesNotExistIsRefused) {
  for (const char* text : {"",
                           "2024",
                           "2024-03",
                           "2024-3-1",
                           "24-03-01",
                           "2024-00-01",
                           "2024-13-01",
                           "2024-04-31",
                           "2023-02-29",
                           "1900-02-29",
                           "2024-03-01T",
                           "2024-03-01 ",
                           "2024-03-01X12:30:05",
                           "2024-03-01T24:00:00",
                           "2024-03-01T12:60:00",
                           "2024-03-01T12:30:60",
                           "2024-03-01T12",
                           "2024-03-01T12:30:05.",
                           "2024-03-01T12:30:05.Z",
                           "2024-03-01T12:30:05+",
                           "+2024-03-01",
                           "2024-03-01T12:30:05+24:00",
                           "2024-03-01T12:30:05+02:60",
                           "2024-03-01T12:30:05+02:",
                           "2024-03-01T12:30:05 Z",
                           "2024-03-01T12:30:05Zx",
                           "2024-03-01Z",
                           "01/03/2024",
                           "2024-03-01T12:30:05.1e3",
                           "2024-03-01T-1:30:05"}) {
    EXPECT_FALSE(parse_date_time(text).has_value()) << text;
  }
  EXPECT_TRUE(parse_date_time("2000-02-29").has_value());
}

TEST(TimeValue, NumbersStayAsTheyAre) {
  EXPECT_EQ(parse_time("881250949"), 881'250'949.0);
  EXPECT_EQ(parse_time("-1.5e3"), -1500.0);
  EXPECT_EQ(parse_time("2024"), 2024.0);
  EXPECT_EQ(parse_time("1970-01-02"), 86'400.0);
  for (const char* text : {"", "nan", "inf", "12 h", "2024-03-01T"}) {
    EXPECT_THROW(parse_time(text), Error) << text;
  }
}

}  // namespace
}  // namespace bet
