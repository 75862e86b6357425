// `bet-serve http` as a program: its answers, compared with those of the other commands, and its
// signals.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "serve/raw_client.h"
#include "serve/served_toy.h"
#include "serve/server_process.h"
#include "support/run_program.h"
#include "support/sanitized.h"

namespace bet {
namespace {

using test::RawAnswer;
using test::RawClient;
using test::run_bet_serve;
using test::ServerProcess;

class HttpProgram : public testing::Test {
 protected:
  // Under another name first, as those who replace files do.
  void put_model(std::uint32_t seed) const {
    folder_.write("new", test::served_toy_bytes(seed));
    std::filesystem::rename(folder_ / "new", model_);
  }
  void SetUp() override { put_model(1); }

  test::TempFolder folder_;
  const std::string model_ = (folder_ / "m.bet").string();
};

TEST_F(HttpProgram, AnswersWhatTheOtherCommandsPrint) {
  const ServerProcess server({model_, "--port", "0"});
  RawClient client(server.address());
  EXPECT_EQ(client.get("/model").body, run_bet_serve({"inspect", model_, "--json"}).out);
  const std::string user = "zo\xc3\xab &+%";
  EXPECT_EQ(client.get("/recommend?user=zo%c3%ab%20%26%2b%25&k=4").body,
            run_bet_serve({"recommend", model_, "--user", user, "-k", "4", "--json"}).out);
  const auto seen =
      run_bet_serve({"recommend", model_, "--user", user, "--include-seen", "--json"});
  EXPECT_EQ(client.get("/recommend?user=zo%c3%ab%20%26%2b%25&include_seen=1").body, seen.out);
  EXPECT_EQ(
      client.get("/similar?item=item+0&k=3").body,
      run_bet_serve({"recommend", model_, "--similar-to", "item 0", "-k", "3", "--json"}).out);
  const std::string body = R"({"items": ["item 0", "item 757"], "k": 2})";
  client.send("POST /recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  const auto given = run_bet_serve(
      {"recommend", model_, "--items", "item 0", "--items", "item 757", "-k", "2", "--json"});
  EXPECT_EQ(given.exit_code, 0) << given.err;
  EXPECT_EQ(client.receive().body, given.out);
}

TEST_F(HttpProgram, StopsOnSigtermWithRequestsAnsweredAndExitsWithZero) {
  ServerProcess server({model_, "--port", "0"});
  RawClient idle(server.address());
  EXPECT_EQ(idle.get("/healthz").status, 200);
  RawClient arriving(server.address());
  arriving.send("GET /healthz HTTP/1.1\r\nHo");
  EXPECT_EQ(idle.get("/healthz").status,
            200);  // the server has seen the connections before this one
  server.signal(SIGTERM);
  EXPECT_TRUE(idle.is_ended());
  arriving.send("st: localhost\r\n\r\n");
  EXPECT_EQ(arriving.receive().body, "{\"status\":\"ok\"}\n");
  EXPECT_TRUE(arriving.is_ended());
  arriving.reset();
  EXPECT_EQ(server.exit_code(), 0);
}

TEST_F(HttpProgram, ASecondSignalEndsItAtOnce) {
  ServerProcess server({model_, "--port", "0", "--timeout", "3600"});
  RawClient half(server.address());
  half.send("GET /");
  RawClient other(server.address());
  EXPECT_EQ(other.get("/healthz").status, 200);
  server.signal(SIGINT);
  ASSERT_TRUE(server.wait_for("stopping when"));
  server.signal(SIGINT);
  EXPECT_EQ(server.exit_code(), -SIGINT);
}

TEST_F(HttpProgram, TakesUpReplacedFilesWithoutDroppingARequest) {
  const std::string target = "/recommend?user=%ff%01&k=5";
  std::vector<std::string> expected;
  for (const std::uint32_t seed : {1U, 2U}) {
    put_model(seed);
    const ServerProcess server({model_, "--port", "0"});
    expected.push_back(RawClient(server.address()).get(target).body);
  }
  ASSERT_NE(expected[0], expected[1]);
  ServerProcess server({model_, "--port", "0"});
  const std::string address = server.address();
  std::atomic<bool> ends = false;
  std::atomic<int> good = 0;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> streams;
  for (const bool keeps_connection : {true, false}) {
    streams.emplace_back([&, keeps_connection] {
      RawClient client(address);
      while (!ends) {
        const RawAnswer answer =
            keeps_connection ? client.get(target) : RawClient(address).get(target);
        const bool is_right = answer.body == expected[0] || answer.body == expected[1];
        ++(answer.status == 200 && is_right ? good : wrong);
      }
    });
  }
  for (int swap = 1; swap <= 10; ++swap) {
    put_model(swap % 2 == 0 ? 2 : 1);
    server.signal(SIGHUP);
    EXPECT_TRUE(server.wait_for("reloaded ", swap)) << server.said();
    EXPECT_EQ(RawClient(address).get(target).body, expected[swap % 2 == 0 ? 1 : 0]) << swap;
  }
  ends = true;
  for (std::thread& stream : streams) stream.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(good, 10);
}

TEST_F(HttpProgram, KeepsTheOldModelWhenTheNewFileIsBad) {
  ServerProcess server({model_, "--port", "0"});
  RawClient client(server.address());
  const std::string before = client.get("/model").body;
  folder_.write("m.bet", test::served_toy_bytes(2).substr(0, 100));
  server.signal(SIGHUP);
  ASSERT_TRUE(server.wait_for("still serving the previous model")) << server.said();
  EXPECT_NE(server.said().find("bet-serve: " + model_ + ": "), std::string::npos);
  EXPECT_EQ(client.get("/model").body, before);
  put_model(2);
  server.signal(SIGHUP);
  ASSERT_TRUE(server.wait_for("reloaded "));
  const std::string metrics = client.get("/metrics").body;
  EXPECT_NE(metrics.find("bet_model_reloads_total{result=\"good\"} 1\n"), std::string::npos);
  EXPECT_NE(metrics.find("bet_model_reloads_total{result=\"bad\"} 1\n"), std::string::npos);
}

// A pipe for stderr that holds 4096 bytes.
class LogPipe {
 public:
  LogPipe() {
    std::array<int, 2> ends{};
    BET_CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0, "no pipe");
    in_ = FileHandle(ends[1]);
    out_ = FileHandle(ends[0]);
    ::fcntl(in_.get(), F_SETPIPE_SZ, 4096);
  }
  int in() const { return in_.get(); }
  std::string line() const {
    std::string text;
    char byte = 0;
    while (::read(out_.get(), &byte, 1) == 1 && byte != '\n') text += byte;
    return text;
  }
  // Until not a byte more can be written. Under another name, because O_NONBLOCK must not hold for
  // the server.
  void fill() const {
    const std::string name = "/proc/self/fd/" + std::to_string(in_.get());
    const FileHandle other(::open(name.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    BET_CHECK(other.is_open(), name, ": cannot be opened");
    while (::write(other.get(), "x", 1) == 1) continue;
  }

 private:
  FileHandle in_, out_;
};

TEST_F(HttpProgram, ALogThatNobodyReadsHoldsUpNeitherReloadsNorTheEnd) {
  const LogPipe log;
  ServerProcess server({model_, "--port", "0"}, {.command = "http", .errors = log.in()});
  const std::string first = log.line();
  const std::size_t begin = first.find("http://") + 7;
  const std::string address = first.substr(begin, first.find(' ', begin) - begin);
  log.fill();
  for (int reload = 1; reload <= 3; ++reload) {
    server.signal(SIGHUP);
    const std::string wanted =
        "bet_model_reloads_total{result=\"good\"} " + std::to_string(reload) + "\n";
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (RawClient(address).get("/metrics").body.find(wanted) == std::string::npos) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << reload;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  server.signal(SIGTERM);
  ASSERT_TRUE(server.ends_within(std::chrono::seconds(30)));
  EXPECT_EQ(server.exit_code(), 0);
}

TEST_F(HttpProgram, ABodyThatMemoryDoesNotSufficeForClosesItsConnectionAlone) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers need more memory than can be limited here";
  ServerProcess server({model_, "--port", "0", "--threads", "1", "--max-body", "1000000000"});
  const std::string address = server.address();
  RawClient before(address);
  EXPECT_EQ(before.get("/healthz").status, 200);
  std::ifstream pages("/proc/" + std::to_string(server.id()) + "/statm");
  rlim_t used = 0;
  pages >> used;
  ASSERT_GT(used, 0);
  const rlim_t limit = used * 4096 + 100'000'000;
  const rlimit memory{limit, limit};
  ASSERT_EQ(::prlimit(server.id(), RLIMIT_AS, &memory, nullptr), 0);
  RawClient large(address);
  large.send("POST /recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000000\r\n\r\n");
  const std::string part(1'000'000, 'x');
  int parts = 0;
  while (parts < 900 && large.send(part)) ++parts;
  EXPECT_LT(parts, 900);
  EXPECT_EQ(before.get("/healthz").status, 200);
  EXPECT_EQ(RawClient(address).get("/model").status, 200);
  server.signal(SIGTERM);
  before.reset();
  EXPECT_EQ(server.exit_code(), 0);
}

TEST_F(HttpProgram, AnswersForTheHostsThatAreAllowed) {
  const ServerProcess server(
      {model_, "--port", "0", "--allowed-host", "bet.example", "--allowed-host", "10.0.0.7"});
  RawClient client(server.address());
  for (const auto& [host, status] :
       std::vector<std::pair<std::string, int>>{{server.address(), 200},
                                                {"localhost", 200},
                                                {"bet.example:80", 200},
                                                {"10.0.0.7", 200},
                                                {"evil.example", 421}}) {
    client.send("GET /healthz HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    EXPECT_EQ(client.receive().status, status) << host;
  }
  ServerProcess wrong({model_, "--port", "0", "--allowed-host", "bet.example:80"});
  EXPECT_EQ(wrong.exit_code(), 1);
  EXPECT_EQ(wrong.said(),
            "bet-serve: allowed host 'bet.example:80': expected a name or an address, without "
            "port\n");
}

TEST_F(HttpProgram, SaysWhereItServesAndThatNobodyIsAskedWho) {
  const ServerProcess local({model_, "--port", "0"});
  EXPECT_TRUE(local.address().starts_with("127.0.0.1:"));
  EXPECT_EQ(local.said().find("authentication"), std::string::npos);
  const ServerProcess open({model_, "--port", "0", "--host", "0.0.0.0"});
  EXPECT_TRUE(open.wait_for("there is no authentication"));
  ServerProcess six({model_, "--port", "0", "--host", "::1"});
  if (!six.wait_for(" serves ")) GTEST_SKIP() << "no IPv6 here: " << six.said();
  EXPECT_TRUE(six.address().starts_with("[::1]:"));
  EXPECT_EQ(RawClient(six.address()).get("/healthz").status, 200);
}

TEST_F(HttpProgram, NamesWhatKeepsItFromServing) {
  const ServerProcess first({model_, "--port", "0"});
  const std::string port = first.address().substr(10);
  ServerProcess second({model_, "--port", port});
  EXPECT_EQ(second.exit_code(), 1);
  EXPECT_EQ(second.said(), "bet-serve: cannot listen on host '127.0.0.1', port " + port +
                               ": Address already in use\n");
  ServerProcess no_host({model_, "--port", "0", "--host", "300.1.1.1."});
  EXPECT_EQ(no_host.exit_code(), 1);
  ServerProcess no_model({"no.bet", "--port", "0"});
  EXPECT_EQ(no_model.exit_code(), 1);
  EXPECT_EQ(no_model.said(), "bet-serve: no.bet: No such file or directory\n");
  for (const std::vector<std::string>& usage :
       std::vector<std::vector<std::string>>{{model_},
                                             {model_, "--port", "65536"},
                                             {model_, "--port", "0", "--threads", "257"},
                                             {model_, "--port", "0", "--queue", "0"},
                                             {model_, "--port", "0", "--timeout", "0"}}) {
    ServerProcess process(usage);
    EXPECT_EQ(process.exit_code(), 2) << usage.back();
  }
}

}  // namespace
}  // namespace bet
