#include "serve/http_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bet {
namespace {

using State = RequestParser::State;

constexpr std::size_t kMaxBody = 100;

RequestParser parsed(std::string_view bytes) {
  RequestParser parser(kMaxBody);
  parser.feed(bytes);
  return parser;
}

int status_of(std::string_view bytes) {
  const RequestParser parser = parsed(bytes);
  return parser.state() == State::kFailed ? parser.error().status : 0;
}

// A request with these lines behind "GET / HTTP/1.1" and a Host.
int status_with(const std::string& lines) {
  return status_of("GET / HTTP/1.1\r\nHost: x\r\n" + lines + "\r\n");
}

TEST(HttpParser, ReadsARequest) {
  const RequestParser parser = parsed(
      "POST /recommend?user=a%20b&k=3?x HTTP/1.1\r\nhOST:x\r\nContent-length: \t5 \r\n\r\nhello");
  ASSERT_EQ(parser.state(), State::kDone);
  EXPECT_EQ(parser.request().method, "POST");
  EXPECT_EQ(parser.request().path, "/recommend");
  EXPECT_EQ(parser.request().query, "user=a%20b&k=3?x");
  EXPECT_EQ(parser.request().body, "hello");
  EXPECT_TRUE(parser.request().keep_alive);
}

TEST(HttpParser, KeepsTheTokenAndTheIdOfARequest) {
  const RequestParser parser =
      parsed("GET / HTTP/1.1\r\nHost: x\r\nAUTHORIZATION:  Bearer a b \r\nx-request-ID: 7\r\n\r\n");
  ASSERT_EQ(parser.state(), State::kDone);
  EXPECT_EQ(parser.request().authorization, "Bearer a b");
  EXPECT_EQ(parser.request().request_id, "7");
  EXPECT_EQ(status_with("Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"), 400)
      << "a proxy might check the other one";
}

TEST(HttpParser, TakesBytesAsTheyComeAndLeavesTheNextRequestAlone) {
  const std::string bytes = "\r\n\r\nPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n" +
                            std::string("\0\r\n", 3) + "GET /next";
  for (std::size_t step = 1; step < bytes.size(); ++step) {
    RequestParser parser(kMaxBody);
    std::size_t at = 0;
    while (at < bytes.size() && parser.state() != State::kDone) {
      ASSERT_NE(parser.state(), State::kFailed) << parser.error().body;
      const std::string_view piece = std::string_view(bytes).substr(at, step);
      const std::size_t taken = parser.feed(piece);
      ASSERT_TRUE(taken == piece.size() || parser.state() == State::kDone);
      at += taken;
    }
    ASSERT_EQ(parser.state(), State::kDone) << step;
    EXPECT_EQ(bytes.substr(at), "GET /next") << step;
    EXPECT_EQ(parser.request().body, std::string("\0\r\n", 3));
  }
}

TEST(HttpParser, KnowsWhetherTheConnectionStays) {
  const auto stays = [](const std::string& version, const std::string& lines) {
    const RequestParser parser = parsed("GET / " + version + "\r\nHost: x\r\n" + lines + "\r\n");
    EXPECT_EQ(parser.state(), State::kDone) << lines;
    return parser.request().keep_alive;
  };
  EXPECT_TRUE(stays("HTTP/1.1", ""));
  EXPECT_FALSE(stays("HTTP/1.1", "Connection: Close\r\n"));
  EXPECT_FALSE(stays("HTTP/1.1", "Connection: keep-alive, close\r\n"));
  EXPECT_FALSE(stays("HTTP/1.1", "Connection: close, keep-alive\r\n"));
  EXPECT_FALSE(stays("HTTP/1.1", "Connection: close\r\nConnection: keep-alive\r\n"));
  EXPECT_FALSE(stays("HTTP/1.1", "Connection: keep-alive\r\nConnection: close\r\n"));
  EXPECT_FALSE(stays("HTTP/1.0", ""));
  EXPECT_TRUE(stays("HTTP/1.0", "Connection: keep-alive\r\n"));
}

TEST(HttpParser, TakesTargetsWithAHostWhichCountsInsteadOfTheField) {
  const auto request = [](const std::string& line) {
    const RequestParser parser = parsed(line + "\r\nHost: field:1\r\n\r\n");
    EXPECT_EQ(parser.state(), State::kDone) << line << parser.error().body;
    return parser.request();
  };
  const HttpRequest whole = request("GET http://a.example:80/recommend?user=http://b HTTP/1.1");
  EXPECT_EQ(whole.host, "a.example:80");
  EXPECT_EQ(whole.path, "/recommend");
  EXPECT_EQ(whole.query, "user=http://b");
  const HttpRequest no_path = request("GET HTTP://[::1]?k=1 HTTP/1.1");
  EXPECT_EQ(no_path.host, "[::1]");
  EXPECT_EQ(no_path.path, "/");
  EXPECT_EQ(no_path.query, "k=1");
  EXPECT_EQ(request("GET http://x HTTP/1.1").path, "/");
  EXPECT_EQ(request("GET /http://x/ HTTP/1.1").host, "field:1");
  EXPECT_EQ(parsed("GET / HTTP/1.0\r\n\r\n").request().host, std::nullopt);
  EXPECT_EQ(parsed("GET / HTTP/1.1\r\nHost:\r\n\r\n").request().host, "");
  for (const std::string host : {"a b", "a/b", "a:b", "a@b", "::1", "[::1", "[x]", "a:1234567"}) {
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n"), 400) << host;
  }
}

TEST(HttpParser, SaysWhenTheClientWaitsToGoOn) {
  RequestParser parser =
      parsed("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_TRUE(parser.expects_continue());
  parser.feed("ok");
  EXPECT_FALSE(parser.expects_continue());
  EXPECT_EQ(parser.state(), State::kDone);
  parser.reset();
  EXPECT_FALSE(parser.has_begun());
  EXPECT_EQ(status_with("Expect: wonders\r\n"), 417);
}

TEST(HttpParser, RefusesWhatIsNoRequestLine) {
  for (const std::string line : {"GET",
                                 "GET /",
                                 "GET / HTTP/1.1 ",
                                 "GET  / HTTP/1.1",
                                 " GET / HTTP/1.1",
                                 "G(T / HTTP/1.1",
                                 "GET / http/1.1",
                                 "GET / HTTP/1.10",
                                 "GET x HTTP/1.1",
                                 "GET /#a HTTP/1.1",
                                 "GET * HTTP/1.1",
                                 "GET /\xc3\xb6 HTTP/1.1",
                                 "GET /\t HTTP/1.1",
                                 "",
                                 "GET http:/x HTTP/1.1",
                                 "GET http:///x HTTP/1.1",
                                 "GET http://?x HTTP/1.1",
                                 "GET http://:80/ HTTP/1.1",
                                 "GET http://a@b/ HTTP/1.1",
                                 "GET http://a:b/ HTTP/1.1",
                                 "GET http://[::1/ HTTP/1.1",
                                 "GET http://x/#a HTTP/1.1",
                                 "GET https://x/ HTTP/1.1"}) {
    EXPECT_EQ(status_of(line + "\r\nHost: x\r\n\r\n"), 400) << line;
  }
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\nHost: x\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400) << "no host";
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\n\r\n"), 0);
}

TEST(HttpParser, RefusesWhatOthersMightReadOtherwise) {
  for (const std::string lines :
       {"Host: y\r\n", "Content-Length: 1\r\nContent-Length: 1\r\n", "Content-Length: 1, 1\r\n",
        "Content-Length: +1\r\n", "Content-Length: 0x1\r\n", "Content-Length:\r\n",
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "A : b\r\n", ": b\r\n", "A\r\n",
        "A: b\r\n c\r\n", "\tA: b\r\n", "A: b\rc\r\n"}) {
    EXPECT_EQ(status_with(lines), 400) << lines;
  }
  EXPECT_EQ(status_with("Transfer-Encoding: chunked\r\n"), 411);
  EXPECT_EQ(status_with("A: b\xff\r\n"), 0);
}

TEST(HttpParser, RefusesControlBytesBeforeTheHeadIsWhole) {
  EXPECT_EQ(status_of(std::string_view("GET /\0", 6)), 400);
  EXPECT_EQ(status_of("\x16\x03\x01"), 400) << "TLS";
  EXPECT_EQ(status_of("GET / HTTP/1.1\n"), 400) << "a bare line feed";
  EXPECT_EQ(status_of("\nGET"), 400);
}

TEST(HttpParser, HasLimits) {
  const std::string long_target(RequestParser::kMaxTargetBytes, 'a');
  EXPECT_EQ(status_of("GET " + long_target.substr(1) + " HTTP/1.1\r\nHost: x\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /" + long_target + " HTTP/1.1\r\nHost: x\r\n\r\n"), 414);
  EXPECT_EQ(status_of("GET /" + long_target.substr(1) + " HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
  EXPECT_EQ(status_of("GET /" + std::string(RequestParser::kMaxHeadBytes, 'a')), 414);
  EXPECT_EQ(status_with("A: " + std::string(RequestParser::kMaxHeadBytes, 'a')), 431);
  std::string fields;
  for (std::size_t i = 1; i < RequestParser::kMaxFields; ++i) fields += "A: b\r\n";
  EXPECT_EQ(status_with(fields), 0);
  EXPECT_EQ(status_with(fields + "A: b\r\n"), 431);
  EXPECT_EQ(status_with("Content-Length: 101\r\n"), 413);
  EXPECT_EQ(status_with("Content-Length: 100000000000000000000000000\r\n"), 413);
  EXPECT_EQ(parsed("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n").state(),
            State::kBody);
}

TEST(HttpParser, NamesWhatItRefuses) {
  EXPECT_EQ(parsed("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n").error().body,
            "{\"error\":\"a body of 101 bytes, more than 100\"}\n");
}

}  // namespace
}  // namespace bet
