#include "base/utf8.h"

#include <gtest/gtest.h>

namespace bet {
namespace {

TEST(Utf8, KnowsWhatIsWellFormed) {
  for (const char* good : {"", "plain", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8e\xac", "\x7f",
                           "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
    EXPECT_EQ(as_utf8(good), good);
  }
  for (const char* bad : {"\xff", "caf\xe9", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                          "\xf5\x80\x80\x80", "\xf0\x80\x80\x80", "\x80", "\xe2\x82"}) {
    EXPECT_FALSE(is_utf8(bad)) << as_utf8(bad);
    EXPECT_TRUE(is_utf8(as_utf8(bad)));
  }
  EXPECT_EQ(as_utf8("caf\xe9"), "caf\\xe9");
}

}  // namespace
}  // namespace bet
