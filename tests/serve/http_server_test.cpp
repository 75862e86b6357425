#include "serve/http_server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "serve/raw_client.h"
#include "support/expect_error.h"

namespace bet {
namespace {

using std::chrono::milliseconds;
using test::RawAnswer;
using test::RawClient;

constexpr std::size_t kLargeBytes = 16'000'000;  // more than sockets hold

// Answers with the path; /wait keeps its worker until the gate is opened. Paths that begin with
// /quick need none: /quick-wait keeps the thread of the server itself. /no-memory fails in a
// worker, /quick-no-memory in the thread of the server.
class GatedApplication : public HttpApplication {
 public:
  HttpResponse answer(const HttpRequest& request) const override {
    if (request.path.ends_with("no-memory")) throw std::bad_alloc();
    if (request.path.ends_with("wait")) {
      std::unique_lock lock(mutex_);
      ++num_inside_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return is_open_; });
    }
    HttpResponse response;
    response.body = request.path == "/large" ? std::string(kLargeBytes, 'x') : request.path;
    response.body += request.body;
    return response;
  }
  bool is_quick(const HttpRequest& request) const override {
    return request.path.starts_with("/quick");
  }

  void wait_for_inside(int count) const {
    std::unique_lock lock(mutex_);
    const bool is_there =
        changed_.wait_for(lock, std::chrono::seconds(30), [&] { return num_inside_ == count; });
    ASSERT_TRUE(is_there) << num_inside_ << " requests with workers instead of " << count;
  }
  int num_inside() const {
    const std::lock_guard lock(mutex_);
    return num_inside_;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable int num_inside_ = 0;
  bool is_open_ = false;
};

// Waits until a counter of another thread has the value; fails the test after half a minute.
void wait_until(const std::atomic<std::uint64_t>& value, std::uint64_t wanted) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (value != wanted) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << value << " instead of " << wanted;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

// As many open files as the system allows, if these are at least `needed`.
bool raise_file_limit(rlim_t needed) {
  rlimit files{};
  EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  return files.rlim_cur >= needed;
}

class HttpServerTest : public testing::Test {
 protected:
  static HttpOptions one_worker() {
    HttpOptions options;
    options.num_threads = 1;
    options.queue_limit = 1;
    options.max_body_bytes = 1000;
    return options;
  }
  void start(const HttpOptions& options = one_worker()) {
    server_.emplace(options, application_, metrics_);
  }
  RawClient client() const { return RawClient(server_->address()); }
  void TearDown() override { application_.open(); }

  GatedApplication application_;
  Metrics metrics_;
  std::optional<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersOnOneConnectionAsLongAsItLasts) {
  start();
  RawClient one = client();
  for (const std::string path : {"/a", "/quick", "/b"}) {
    const RawAnswer answer = one.get(path);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, path);
    EXPECT_TRUE(answer.has_header("Cache-Control: no-store"));
    EXPECT_TRUE(answer.has_header("X-Content-Type-Options: nosniff"));
    EXPECT_TRUE(answer.has_header("Connection: keep-alive"));
  }
  one.send("GET /c HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(one.receive().has_header("Connection: close"));
  EXPECT_TRUE(one.is_ended());
}

TEST_F(HttpServerTest, LeavesOutTheBodyForHead) {
  start();
  RawClient one = client();
  one.send("HEAD /abc HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(one.receive(true).has_header("Content-Length: 4"));
  EXPECT_EQ(one.get("/next").body, "/next") << "nothing of a body before it";
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInTheirOrder) {
  start();
  RawClient one = client();
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests += "GET /" + std::string(i % 2 == 0 ? "quick" : std::to_string(i)) +
                " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  }
  one.send(requests);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(one.receive().body, i % 2 == 0 ? "/quick" : "/" + std::to_string(i));
  }
}

TEST_F(HttpServerTest, TakesABodyThatWaitsToBeAskedFor) {
  start();
  RawClient one = client();
  one.send(
      "POST /x HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(one.receive(true).status, 100);
  one.send("abc");
  EXPECT_EQ(one.receive().body, "/xabc");
}

TEST_F(HttpServerTest, SaysThatABodyIsTooLargeToWhoGoesOnSending) {
  start();
  RawClient one = client();
  one.send("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n");
  one.send(std::string(3'000'000, 'x'));
  const RawAnswer answer = one.receive();
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.body, "{\"error\":\"a body of 3000000 bytes, more than 1000\"}\n");
  EXPECT_TRUE(answer.has_header("Connection: close"));
}

TEST_F(HttpServerTest, AnswersBusyWhenTheQueueIsFull) {
  start();
  RawClient first = client();
  first.send_get("/wait");
  application_.wait_for_inside(1);
  RawClient second = client();
  second.send_get("/second");
  wait_until(metrics_.queue_depth, 1);
  RawClient third = client();
  const RawAnswer busy = third.get("/third");
  EXPECT_EQ(busy.status, 503);
  EXPECT_TRUE(busy.has_header("Retry-After: 1"));
  EXPECT_EQ(metrics_.rejected, 1);
  EXPECT_EQ(third.get("/quick").status, 200) << "needs no worker";
  application_.open();
  EXPECT_EQ(first.receive().body, "/wait");
  EXPECT_EQ(second.receive().body, "/second");
  EXPECT_EQ(third.get("/third").body, "/third") << "the connection has stayed";
}

TEST_F(HttpServerTest, DoesNotBeginWhatHasWaitedTooLong) {
  HttpOptions options = one_worker();
  options.timeout = milliseconds(1000);
  start(options);
  RawClient first = client();
  first.send_get("/wait");
  application_.wait_for_inside(1);
  RawClient second = client();
  second.send_get("/wait");
  wait_until(metrics_.queue_depth, 1);
  std::this_thread::sleep_for(options.timeout + milliseconds(50));
  application_.open();
  EXPECT_EQ(first.receive().status, 200) << "what has begun is finished";
  EXPECT_EQ(second.receive().status, 503);
  EXPECT_EQ(application_.num_inside(), 1);
}

TEST_F(HttpServerTest, DoesNotBeginWhatNobodyWaitsForAnyMore) {
  start();
  RawClient first = client();
  first.send_get("/wait");
  application_.wait_for_inside(1);
  RawClient second = client();
  second.send_get("/wait");
  wait_until(metrics_.queue_depth, 1);
  second.reset();
  wait_until(metrics_.connections_open, 1);
  application_.open();
  EXPECT_EQ(first.receive().status, 200);
  wait_until(metrics_.queue_depth, 0);
  EXPECT_EQ(first.get("/next").status, 200) << "the one worker is free again";
  EXPECT_EQ(application_.num_inside(), 1);
}

TEST_F(HttpServerTest, SlowRequestsAreCutOffAndHoldUpNobody) {
  HttpOptions options = one_worker();
  options.timeout = milliseconds(300);
  start(options);
  RawClient silent = client();
  RawClient half = client();
  half.send("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nab");
  RawClient slow = client();
  std::thread dripping([&] {  // a slow trickle does not extend the time
    slow.send("GET /");
    while (slow.send("a")) std::this_thread::sleep_for(milliseconds(20));
  });
  EXPECT_EQ(client().get("/quick").status, 200);
  EXPECT_EQ(half.receive().status, 408);
  EXPECT_TRUE(half.is_ended());
  EXPECT_EQ(slow.receive().status, 408);
  EXPECT_TRUE(silent.is_ended()) << "without a word";
  dripping.join();
  EXPECT_EQ(metrics_.timeouts, 2);
}

TEST_F(HttpServerTest, WhoDoesNotTakeHisAnswerHoldsUpNobody) {
  HttpOptions options = one_worker();
  options.timeout = milliseconds(1000);
  start(options);
  RawClient lazy = client();
  lazy.send_get("/large");
  EXPECT_EQ(client().get("/quick").status, 200);
  wait_until(metrics_.timeouts, 1);
  wait_until(metrics_.connections_open, 0);
  EXPECT_EQ(lazy.receive().status, 0) << "not whole";
}

TEST_F(HttpServerTest, LargeAnswersComeWhole) {
  HttpOptions options = one_worker();
  options.timeout = std::chrono::minutes(5);  // however busy the machine is
  start(options);
  EXPECT_EQ(client().get("/large").body.size(), kLargeBytes);
}

TEST_F(HttpServerTest, ManyHalfOpenConnectionsMakeRoomForGoodOnes) {
  if (!raise_file_limit(2000)) GTEST_SKIP() << "too few open files";
  start();
  RawClient busy = client();
  busy.send_get("/wait");
  application_.wait_for_inside(1);
  std::vector<RawClient> half_open;
  for (int i = 0; i < 700; ++i) {
    half_open.push_back(client());
    half_open.back().send("GET /recomm");
  }
  RawClient good = client();
  EXPECT_EQ(good.get("/quick").status, 200);
  EXPECT_GE(metrics_.evicted, 702 - 514);
  EXPECT_LE(metrics_.connections_open, 514);
  application_.open();
  EXPECT_EQ(busy.receive().body, "/wait") << "who has a request under way is left alone";
  EXPECT_EQ(good.get("/good").body, "/good");
}

// The requests are there before the server looks, and three times as many silent connections as it
// has room for behind them.
TEST_F(HttpServerTest, AFloodOfConnectionsClosesNobodyWhoAsksOrWasAnswered) {
  constexpr int kFlood = 1500;
  int backlog = 0;
  std::ifstream("/proc/sys/net/core/somaxconn") >> backlog;
  if (backlog < kFlood + 100) GTEST_SKIP() << "only " << backlog << " connections may wait";
  if (!raise_file_limit(3000)) GTEST_SKIP() << "too few open files";
  start();
  RawClient kept = client();
  EXPECT_EQ(kept.get("/before").status, 200);
  RawClient holder = client();
  holder.send_get("/quick-wait");
  application_.wait_for_inside(1);
  std::vector<RawClient> good;
  for (int i = 0; i < 20; ++i) {
    good.push_back(client());
    good.back().send_get("/quick");
  }
  std::vector<RawClient> flood;
  flood.reserve(kFlood);
  for (int i = 0; i < kFlood; ++i) flood.push_back(client());
  RawClient last = client();
  last.send_get("/quick");
  application_.open();
  for (RawClient& one : good) EXPECT_EQ(one.receive().status, 200);
  EXPECT_EQ(last.receive().status, 200);
  EXPECT_EQ(kept.get("/after").body, "/after");
  EXPECT_EQ(holder.receive().status, 200);
  EXPECT_GE(metrics_.evicted, kFlood - 514);
  EXPECT_LE(metrics_.connections_open, 514);
}

TEST_F(HttpServerTest, ManyIdleConnectionsKeepNobodyOut) {
  if (!raise_file_limit(2000)) GTEST_SKIP() << "too few open files";
  start();
  std::vector<RawClient> idle;
  for (int i = 0; i < 514; ++i) {
    idle.push_back(client());
    ASSERT_EQ(idle.back().get("/quick").status, 200);
  }
  EXPECT_EQ(client().get("/quick").status, 200);
  EXPECT_EQ(metrics_.evicted, 1);
  EXPECT_TRUE(idle.front().is_ended()) << "the one that was idle for longest";
  EXPECT_EQ(idle.back().get("/quick").status, 200);
}

TEST_F(HttpServerTest, ALackOfMemoryClosesOneConnectionAlone) {
  start();
  RawClient other = client();
  EXPECT_EQ(other.get("/quick").status, 200);
  for (const char* const path : {"/no-memory", "/quick-no-memory"}) {
    RawClient one = client();
    one.send_get(path);
    EXPECT_TRUE(one.is_ended()) << path;
    EXPECT_EQ(other.get("/after").body, "/after") << path;
  }
}

TEST_F(HttpServerTest, AnswersOnLoopbackForLoopbackHostsAlone) {
  HttpOptions options = one_worker();
  options.allowed_hosts = {"bet.example"};
  start(options);
  RawClient one = client();
  const auto ask = [&](const std::string& line, const std::string& host) {
    one.send(line + "\r\nHost: " + host + "\r\n\r\n");
    return one.receive();
  };
  for (const std::string host :
       {"localhost", "LOCALHOST:1", "127.9.9.9:80", "[::1]", "bet.example"}) {
    EXPECT_EQ(ask("GET /a HTTP/1.1", host).body, "/a") << host;
  }
  const RawAnswer wrong = ask("GET /a HTTP/1.1", "evil.example:8080");
  EXPECT_EQ(wrong.status, 421);
  EXPECT_EQ(wrong.body,
            "{\"error\":\"this server does not answer for the host 'evil.example:8080'; "
            "--allowed-host adds one\"}\n");
  EXPECT_TRUE(wrong.has_header("Connection: keep-alive")) << "the request was well-formed";
  EXPECT_EQ(ask("GET http://evil.example/a HTTP/1.1", "localhost").status, 421);
  EXPECT_EQ(ask("GET http://localhost/a HTTP/1.1", "evil.example").body, "/a");
  EXPECT_EQ(ask("GET /quick HTTP/1.1", "").status, 421);
  one.send("GET /a HTTP/1.0\r\n\r\n");
  EXPECT_EQ(one.receive().status, 421) << "names were given";
}

TEST_F(HttpServerTest, AnswersOldClientsWithoutHost) {
  start();
  RawClient one = client();
  one.send("GET /a HTTP/1.0\r\n\r\n");
  EXPECT_EQ(one.receive().body, "/a");
}

TEST_F(HttpServerTest, AnswersElsewhereForEveryHost) {
  HttpOptions options = one_worker();
  options.host = "0.0.0.0";
  start(options);
  RawClient one("127.0.0.1" + server_->address().substr(server_->address().rfind(':')));
  one.send("GET /a HTTP/1.1\r\nHost: any.example\r\n\r\n");
  EXPECT_EQ(one.receive().body, "/a");
}

TEST_F(HttpServerTest, StopFinishesWhatIsUnderWay) {
  start();
  RawClient answering = client();
  answering.send_get("/wait");
  application_.wait_for_inside(1);
  RawClient queued = client();
  queued.send_get("/queued");
  wait_until(metrics_.queue_depth, 1);
  RawClient arriving = client();
  arriving.send("GET /qui");
  RawClient idle = client();
  EXPECT_EQ(idle.get("/quick").status, 200);
  const std::string address = server_->address();
  std::thread stopping([&] { server_->stop(); });
  EXPECT_TRUE(idle.is_ended());
  EXPECT_NE(test::error_of([&] { RawClient late(address); }), "");
  arriving.send("ck HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const RawAnswer arrived = arriving.receive();
  EXPECT_EQ(arrived.status, 200);
  EXPECT_TRUE(arrived.has_header("Connection: close"));
  EXPECT_TRUE(arriving.is_ended());
  application_.open();
  EXPECT_EQ(answering.receive().body, "/wait");
  EXPECT_TRUE(answering.is_ended());
  EXPECT_EQ(queued.receive().body, "/queued");
  for (RawClient* const done : {&arriving, &answering, &queued}) done->reset();
  stopping.join();
  EXPECT_EQ(metrics_.connections_open, 0);
}

TEST_F(HttpServerTest, CountsByRouteAndStatus) {
  start();
  RawClient one = client();
  one.get("/a");
  one.send("nonsense\r\n\r\n");
  EXPECT_EQ(one.receive().status, 400);
  const std::string text = metrics_.text(0);
  EXPECT_NE(text.find("{route=\"none\",code=\"200\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("{route=\"none\",code=\"400\"} 1\n"), std::string::npos) << text;
}

TEST_F(HttpServerTest, NamesAnAddressThatIsNotToBeHad) {
  start();
  EXPECT_TRUE(server_->is_loopback());
  HttpOptions same = one_worker();
  same.port = static_cast<std::uint16_t>(
      std::stoi(server_->address().substr(server_->address().rfind(':') + 1)));
  EXPECT_EQ(test::error_of([&] { HttpServer(same, application_, metrics_); }),
            "cannot listen on host '127.0.0.1', port " + std::to_string(same.port) +
                ": Address already in use");
  HttpOptions elsewhere = one_worker();
  elsewhere.host = "192.0.2.1";
  EXPECT_EQ(test::error_of([&] { HttpServer(elsewhere, application_, metrics_); }),
            "cannot listen on host '192.0.2.1', port 0: Cannot assign requested address");
  HttpOptions no_host = one_worker();
  no_host.host = "300.1.1.1.";
  EXPECT_TRUE(test::error_of([&] {
                HttpServer(no_host, application_, metrics_);
              }).starts_with("host '300.1.1.1.': "));
}

}  // namespace
}  // namespace bet
