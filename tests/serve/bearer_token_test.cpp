#include "serve/bearer_token.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

TEST(BearerToken, AllowsItselfAlone) {
  const BearerToken token("0123456789abcdef");
  for (const char* const good : {"Bearer 0123456789abcdef", "bearer 0123456789abcdef"}) {
    EXPECT_TRUE(token.allows(good)) << good;
  }
  for (const char* const bad :
       {"", "Bearer", "Bearer ", "0123456789abcdef", "Basic 0123456789abcdef",
        "Bearer 0123456789abcde", "Bearer 0123456789abcdeg", "Bearer 1123456789abcdef",
        "Bearer 0123456789abcdef0", "Bearer  0123456789abcdef", "Bearer 0123456789ABCDEF",
        "Bearer 0123456789abcdef0123456789abcdef", "Bearer 0123456789abcdef "}) {
    EXPECT_FALSE(token.allows(bad)) << bad;
  }
}

TEST(BearerToken, IsReadFromAFile) {
  const test::TempFolder folder;
  EXPECT_TRUE(BearerToken::read(folder.write("a", "0123456789abcdef \r\n\n"))
                  .allows("Bearer 0123456789abcdef"));
  EXPECT_TRUE(
      BearerToken::read(folder.write("b", "-._~+/=0123456789")).allows("Bearer -._~+/=0123456789"));
  for (const std::string& bad : {std::string(), std::string("short\n"),
                                 std::string("0123456789 abcdef"), std::string(5'000, 'a')}) {
    const std::string path = folder.write("bad", bad);
    EXPECT_EQ(test::error_of([&] { BearerToken::read(path); }),
              path + ": expected a token of 16 to 4096 letters, digits and characters of -._~+/=");
  }
  EXPECT_EQ(test::error_of([] { BearerToken::read("/no/such"); }),
            "/no/such: No such file or directory");
}

}  // namespace
}  // namespace bet
