#include "serve/host_names.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace bet {
namespace {

TEST(HostNames, AreTakenFromAuthorities) {
  EXPECT_EQ(host_of("a.example:80"), "a.example");
  EXPECT_EQ(host_of("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(host_of("[::1]:8080"), "[::1]");
  EXPECT_EQ(host_of("a:"), "a");
  EXPECT_EQ(host_of(""), "");
  for (const char* const wrong : {"a b", "::1", "[::1", "[1]", "[::1]x", "a:b", "a:1:2", "u@a"}) {
    EXPECT_EQ(host_of(wrong), std::nullopt) << wrong;
  }
}

TEST(HostNames, OfLoopbackAreKnown) {
  for (const char* const host :
       {"localhost", "LocalHost", "127.0.0.1", "127.255.0.3", "[::1]", "[0:0::1]"}) {
    EXPECT_TRUE(is_loopback_host(host)) << host;
  }
  for (const char* const host :
       {"", "localhost.evil.example", "127.0.0.1.evil.example", "128.0.0.1", "127.0.0", "::1",
        "[::2]", "[::1", "0.0.0.0", "evil.example"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
}

TEST(HostCheck, OnLoopbackAllowsLoopbackAndNamesGiven) {
  const HostCheck plain(true, {});
  EXPECT_TRUE(plain.allows("localhost:8080"));
  EXPECT_TRUE(plain.allows("[::1]:8080"));
  EXPECT_TRUE(plain.allows(std::nullopt));
  EXPECT_FALSE(plain.allows("evil.example:8080"));
  EXPECT_FALSE(plain.allows(""));
  const HostCheck named(true, {"Bet.example", "::2"});
  EXPECT_TRUE(named.allows("127.0.0.1"));
  EXPECT_TRUE(named.allows("bet.EXAMPLE:443"));
  EXPECT_TRUE(named.allows("[::2]:1"));
  EXPECT_FALSE(named.allows("a.bet.example"));
  EXPECT_FALSE(named.allows(std::nullopt));
}

TEST(HostCheck, ElsewhereAllowsAllUnlessNamesAreGiven) {
  const HostCheck plain(false, {});
  EXPECT_TRUE(plain.allows("any.example"));
  EXPECT_TRUE(plain.allows(""));
  EXPECT_TRUE(plain.allows(std::nullopt));
  const HostCheck named(false, {"bet.example"});
  EXPECT_TRUE(named.allows("bet.example"));
  EXPECT_TRUE(named.allows("localhost")) << "who asks from the same machine";
  EXPECT_FALSE(named.allows("any.example"));
  EXPECT_FALSE(named.allows(std::nullopt));
}

TEST(HostCheck, RefusesWhatIsNoName) {
  for (const char* const name : {"", "a:80", "a b", "http://a", "[::1]:80"}) {
    EXPECT_EQ(
        test::error_of([&] { HostCheck(true, {name}); }),
        "allowed host '" + std::string(name) + "': expected a name or an address, without port");
  }
}

}  // namespace
}  // namespace bet
