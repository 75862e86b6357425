#include "serve/access_log.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "serve/raw_client.h"
#include "serve/served_toy.h"
#include "serve/server_process.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

TEST(AccessLog, ALineIsOneJsonObject) {
  const std::string line = access_line({"id-1", "GET", "/a\xff\n", 404, 12, 0.25});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  Json json = Json::parse(line);
  const std::string time = json["time"];
  EXPECT_EQ(time.size(), std::string("2026-11-17T16:20:31.123Z").size()) << time;
  json.erase("time");
  EXPECT_EQ(json, Json({{"id", "id-1"},
                        {"method", "GET"},
                        {"path", "/a\xef\xbf\xbd\n"},
                        {"status", 404},
                        {"bytes", 12},
                        {"seconds", 0.25}}));
  EXPECT_EQ(Json::parse(message_line("hello"))["message"], "hello");
}

TEST(AccessLog, RequestIdsAreTheClientsOrNew) {
  EXPECT_EQ(request_id("a-B.9_:+/="), "a-B.9_:+/=");
  EXPECT_EQ(request_id(std::string(128, 'x')), std::string(128, 'x'));
  std::set<std::string> ids;
  for (const std::string& bad : {std::string(), std::string(129, 'x'), std::string("a b"),
                                 std::string("a\"b"), std::string("a\r\nX: y")}) {
    const std::string id = request_id(bad);
    EXPECT_EQ(id.size(), 16U);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 5U);
}

TEST(AccessLog, OfTheProgramHasEveryRequestAndNamesNoUser) {
  const test::TempFolder folder;
  const std::string path = folder.write("m.bet", test::served_toy_bytes());
  const std::string token = folder.write("token", "0123456789abcdef\n");
  test::ServerProcess server({path, "--port", "0", "--log", "json", "--token-file", token});
  test::RawClient client(server.address());
  EXPECT_EQ(client.get("/model").status, 401);
  client.send(
      "GET /recommend?user=%ff%01&k=2 HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: mine\r\n"
      "authorization: Bearer 0123456789abcdef\r\n\r\n");
  const test::RawAnswer answer = client.receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.has_header("X-Request-Id: mine")) << answer.head;
  EXPECT_EQ(client.get("/healthz").status, 200);
  client.send("BAD\r\n\r\n");
  EXPECT_EQ(client.receive().status, 400);
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_code(), 0);
  std::istringstream lines(server.said());
  std::vector<Json> requests;
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    EXPECT_TRUE(json.contains("time"));
    if (json.contains("status")) requests.push_back(json);
  }
  EXPECT_EQ(server.said().find("%ff"), std::string::npos) << server.said();
  ASSERT_EQ(requests.size(), 4U) << server.said();
  EXPECT_EQ(requests[0]["status"], 401);
  EXPECT_EQ(requests[1]["id"], "mine");
  EXPECT_EQ(requests[1]["method"], "GET");
  EXPECT_EQ(requests[1]["path"], "/recommend");
  EXPECT_EQ(requests[1]["bytes"], answer.body.size());
  EXPECT_EQ(requests[2]["path"], "/healthz");
  EXPECT_NE(requests[2]["id"], "mine");
  EXPECT_EQ(requests[3]["status"], 400);
  EXPECT_EQ(requests[3]["path"], "");
}

}  // namespace
}  // namespace bet
