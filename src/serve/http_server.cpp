#include "serve/http_server.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "serve/connection.h"
#include "serve/host_names.h"
#include "serve/listen_socket.h"
#include "serve/worker_pool.h"

namespace bet {
namespace {

using Clock = Connection::Clock;
using Phase = Connection::Phase;

constexpr std::uint64_t kWakeKey = 0;
constexpr std::uint64_t kListenKey = 1;
constexpr std::uint64_t kFirstConnection = 2;
// How often deadlines are checked.
constexpr auto kTick = std::chrono::milliseconds(100);
// Connections beyond those that may have a request with a worker or in the queue.
constexpr std::size_t kSpareConnections = 512;
constexpr std::size_t kOtherFiles = 32;
// Events handled in a round of the loop, and connections accepted. Fewer are accepted than handled,
// so that the requests of those who are connected are read first, however many others arrive.
constexpr std::size_t kEventsPerRound = 128;
constexpr std::size_t kAcceptsPerRound = 64;
// For so long a new or idle connection is kept even if others wait for its place: a client needs
// time to send its request after it has connected.
constexpr auto kGrace = std::chrono::milliseconds(100);

// As many as the options ask for, or fewer if the system allows fewer open files.
std::size_t connection_limit(const HttpOptions& options) {
  const std::size_t busy = options.num_threads + options.queue_limit;
  const std::size_t wanted = busy + kSpareConnections;
  rlimit files{};
  BET_CHECK(::getrlimit(RLIMIT_NOFILE, &files) == 0, "limit on open files: ", system_message());
  if (files.rlim_cur < wanted + kOtherFiles) {
    files.rlim_cur = std::min<rlim_t>(files.rlim_max, wanted + kOtherFiles);
    BET_CHECK(::setrlimit(RLIMIT_NOFILE, &files) == 0, "limit on open files: ", system_message());
  }
  BET_CHECK(files.rlim_cur > busy + 2 * kOtherFiles, "a queue of ", options.queue_limit,
            " needs more than the ", files.rlim_cur, " open files that this process may have");
  return std::min<std::size_t>(wanted, files.rlim_cur - kOtherFiles);
}

HttpResponse queue_full(std::size_t limit) {
  HttpResponse response =
      error_response(503, str_cat("busy: ", limit, " requests are waiting already"));
  response.headers = "Retry-After: 1\r\n";
  return response;
}

HttpResponse wrong_host(const std::optional<std::string>& host) {
  if (!host) return error_response(421, "the Host field is missing");
  return error_response(421, str_cat("this server does not answer for the host ", in_quotes(*host),
                                     "; --allowed-host adds one"));
}

HttpResponse waited_too_long() {
  return error_response(503, "busy: the request has waited too long for its turn");
}

}  // namespace

// Members are used by the loop thread alone, except those marked as shared.
class HttpServer::Loop {
 public:
  Loop(const HttpOptions& options, const HttpApplication& application, Metrics& metrics)
      : options_(options),
        application_(application),
        metrics_(metrics),
        max_connections_(connection_limit(options)),
        listener_(listen_on(options.host, options.port)),
        address_(listener_.address),
        is_loopback_(listener_.is_loopback),
        hosts_(is_loopback_, options.allowed_hosts),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    BET_CHECK(epoll_.is_open() && wake_.is_open(), "epoll: ", system_message());
    watch(EPOLL_CTL_ADD, wake_.get(), EPOLLIN, kWakeKey);
    watch(EPOLL_CTL_ADD, listener_.handle.get(), EPOLLIN, kListenKey);
    // Nothing grows later: the loop and the workers must be able to report a lack of memory. Each
    // connection and each worker has one answer at most.
    keys_.reserve(max_connections_);
    victims_.reserve(max_connections_);
    answers_.reserve(max_connections_ + options.num_threads);
    taken_.reserve(answers_.capacity());
    workers_.emplace(options.num_threads, options.queue_limit, metrics_.queue_depth);
    thread_ = std::thread([this] { run(); });
  }

  ~Loop() { end(Stop::kAtOnce); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  const std::string& address() const { return address_; }
  bool is_loopback() const { return is_loopback_; }

  enum class Stop { kNo, kWhenDone, kAtOnce };

  // Called from another thread.
  void end(Stop how) {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      wanted_stop_ = how;
    }
    wake();
    thread_.join();
    workers_.reset();
  }

 private:
  struct Answer {
    std::uint64_t key;
    std::optional<HttpResponse> response;  // nothing: memory was lacking
  };

  void run() {
    while (stop_ == Stop::kNo || (stop_ == Stop::kWhenDone && !connections_.empty())) {
      wait_for_events();
      take_answers();
      if (Clock::now() >= next_tick_) tick();
    }
    connections_.clear();
    metrics_.connections_open = 0;
  }

  void wait_for_events() {
    std::array<epoll_event, kEventsPerRound> events{};
    const int timeout =
        connections_.empty() && is_accepting_ ? -1 : static_cast<int>(kTick.count());
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout);
    BET_CHECK(count >= 0 || errno == EINTR, "epoll: ", system_message());
    bool has_new = false;
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events.at(static_cast<std::size_t>(i));
      if (event.data.u64 == kListenKey) {
        has_new = true;
      } else if (event.data.u64 != kWakeKey) {
        on_event(event.data.u64, event.events);
      }
    }
    if (has_new) accept_some(kAcceptsPerRound);
  }

  // Does something for a connection; closes it if that throws, which is for lack of memory.
  template <typename Work>
  void guarded(std::uint64_t key, const Work& work) {
    try {
      work();
    } catch (const std::exception&) {
      if (connections_.contains(key)) close(key);
    }
  }

  void on_event(std::uint64_t key, std::uint32_t events) {
    const auto found = connections_.find(key);
    if (found == connections_.end()) return;  // closed by an event before this one
    Connection& connection = *found->second;
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) return close(key);
    guarded(key, [&] {
      if (connection.phase() == Phase::kWriting) {
        connection.write();
      } else if (connection.phase() != Phase::kAnswering) {
        connection.read();
      }
      advance(key, connection);
    });
  }

  // Advances as far as possible without waiting: pipelined requests are answered one by one.
  void advance(std::uint64_t key, Connection& connection) {
    while (connection.parse()) {
      if (connection.has_failed()) {
        connection.asked_at = Clock::now();
        reply(connection, connection.error());
      } else {
        serve(key, connection);
      }
    }
    const Phase phase = connection.phase();
    const bool is_done = phase == Phase::kClosed || (stop_ != Stop::kNo && connection.is_idle());
    if (is_done) return close(key);
    const std::uint32_t interest = phase == Phase::kWriting     ? std::uint32_t{EPOLLOUT}
                                   : phase == Phase::kAnswering ? 0U
                                                                : std::uint32_t{EPOLLIN};
    watch(EPOLL_CTL_MOD, connection.socket(), interest, key);
  }

  void serve(std::uint64_t key, Connection& connection) {
    const auto request = std::make_shared<const HttpRequest>(connection.take_request());
    if (options_.on_answer) {
      connection.method = request->method;
      connection.path = request->path;
      connection.request_id = request->request_id;
    }
    if (!hosts_.allows(request->host)) return reply(connection, wrong_host(request->host));
    if (application_.is_quick(*request)) return reply(connection, application_.answer(*request));
    const auto abandoned = std::make_shared<std::atomic<bool>>(false);
    connection.abandoned = abandoned;
    const bool taken = workers_->submit([this, key, request, abandoned] {
      if (abandoned->load()) return;
      Answer answer{key, std::nullopt};
      try {
        answer.response =
            Clock::now() > request->deadline ? waited_too_long() : application_.answer(*request);
      } catch (const std::exception&) {  // the loop closes the connection
      }
      {
        const std::lock_guard lock(mutex_);
        answers_.push_back(std::move(answer));
      }
      wake();
    });
    if (taken) return;
    ++metrics_.rejected;
    reply(connection, queue_full(options_.queue_limit));
  }

  void reply(Connection& connection, const HttpResponse& response) {
    const std::chrono::duration<double> time = Clock::now() - connection.asked_at;
    metrics_.count_request(response.route, response.status, time.count());
    answer(connection, response, time.count(), stop_ != Stop::kNo);
  }

  void answer(Connection& connection, const HttpResponse& response, double seconds, bool close) {
    if (!options_.on_answer) return connection.answer(response, close);
    const std::string id = request_id(connection.request_id);
    connection.answer(response, close, str_cat("X-Request-Id: ", id, "\r\n"));
    options_.on_answer(
        {id, connection.method, connection.path, response.status, response.body.size(), seconds});
    connection.method.clear();
    connection.path.clear();
    connection.request_id.clear();
  }

  // Takes the answers of workers, and the wish to stop.
  void take_answers() {
    std::uint64_t count = 0;
    if (::read(wake_.get(), &count, sizeof(count)) < 0) return;
    Stop wanted = Stop::kNo;
    {
      const std::lock_guard lock(mutex_);
      taken_.swap(answers_);
      wanted = wanted_stop_;
    }
    for (const Answer& answer : taken_) {
      const auto found = connections_.find(answer.key);
      if (found == connections_.end()) continue;  // the client has gone
      if (!answer.response) {
        close(answer.key);
        continue;
      }
      guarded(answer.key, [&] {
        reply(*found->second, *answer.response);
        advance(answer.key, *found->second);
      });
    }
    taken_.clear();
    if (wanted != Stop::kNo && stop_ == Stop::kNo) begin_stop(wanted);
  }

  void begin_stop(Stop how) {
    accept_some(max_connections_);  // connections made before the stop are still served
    stop_ = how;
    listener_.handle.close();
    is_accepting_ = true;  // so that nothing resumes
    keys_.clear();
    for (const auto& [key, connection] : connections_) {
      if (connection->is_idle()) keys_.push_back(key);
    }
    // A request may lie unread in the socket; clients that have sent nothing are closed.
    for (const std::uint64_t key : keys_) {
      Connection& connection = *connections_.at(key);
      guarded(key, [&] {
        connection.read();
        advance(key, connection);
      });
    }
  }

  // Accepts at most `limit` connections: a flood of them must not keep the loop from the others.
  void accept_some(std::size_t limit) {
    has_chosen_victims_ = false;
    for (std::size_t count = 0; count < limit && listener_.handle.is_open(); ++count) {
      if (connections_.size() >= max_connections_) {
        if (!is_somebody_waiting()) return;
        if (!evict()) return accept_later();
      }
      FileHandle socket(
          ::accept4(listener_.handle.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket.is_open()) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        // Out of files or memory: the listener would stay ready, so it pauses until the next tick.
        if (errno != EAGAIN && errno != EWOULDBLOCK) accept_later();
        return;
      }
      if (!add(std::move(socket))) return accept_later();
    }
  }

  bool is_somebody_waiting() const {
    pollfd listener{listener_.handle.get(), POLLIN, 0};
    return ::poll(&listener, 1, 0) > 0;
  }

  // False if there is no memory for it.
  bool add(FileHandle socket) {
    const std::uint64_t key = next_key_++;
    try {
      auto connection = std::make_unique<Connection>(std::move(socket), options_.max_body_bytes,
                                                     options_.timeout);
      if (!try_watch(EPOLL_CTL_ADD, connection->socket(), EPOLLIN, key)) return false;
      connections_.emplace(key, std::move(connection));
    } catch (const std::bad_alloc&) {
      return false;
    }
    metrics_.connections_open = connections_.size();
    return true;
  }

  // The listener would stay ready: it pauses until the next tick, or until a connection is closed.
  void accept_later() {
    watch(EPOLL_CTL_MOD, listener_.handle.get(), 0, kListenKey);
    is_accepting_ = false;
  }
  void accept_again() {
    if (is_accepting_) return;
    watch(EPOLL_CTL_MOD, listener_.handle.get(), EPOLLIN, kListenKey);
    is_accepting_ = true;
  }

  // Closes a connection to make room for a new one; false if each one must be kept for now. Victims
  // are chosen once in a round: what has come since is kept anyway.
  bool evict() {
    if (!has_chosen_victims_) choose_victims();
    while (!victims_.empty()) {
      const std::uint64_t key = victims_.back().key;
      victims_.pop_back();
      const auto found = connections_.find(key);
      // What a client has sent must be read before it is judged as idle or slow.
      const Connection& connection = *found->second;
      if (connection.phase() == Phase::kReading && connection.has_unread_bytes()) continue;
      ++metrics_.evicted;
      close(key);
      return true;
    }
    return false;
  }

  // The connections that may be closed to make room, those with the earliest deadlines last. They
  // are all from the larger one of two groups: clients that have had no answer yet, and clients
  // that keep their connection after one. Thus a flood of new connections closes none of the
  // second group, and many idle ones keep nobody out.
  void choose_victims() {
    has_chosen_victims_ = true;
    victims_.clear();
    const auto is_evictable = [](const Connection& connection) {
      return connection.phase() != Phase::kAnswering;
    };
    std::size_t total = 0;
    std::size_t kept = 0;
    for (const auto& [key, connection] : connections_) {
      if (!is_evictable(*connection)) continue;
      ++total;
      kept += connection->is_kept() ? 1 : 0;
    }
    const bool from_kept = 2 * kept > total;
    const Clock::time_point latest = Clock::now() - kGrace;
    for (const auto& [key, connection] : connections_) {
      if (!is_evictable(*connection) || connection->is_kept() != from_kept ||
          connection->phase_begin() > latest) {
        continue;
      }
      victims_.push_back({key, connection->deadline()});
    }
    std::sort(victims_.begin(), victims_.end(),
              [](const Victim& a, const Victim& b) { return a.deadline > b.deadline; });
  }

  void tick() {
    const Clock::time_point now = Clock::now();
    next_tick_ = now + kTick;
    accept_again();
    keys_.clear();
    for (const auto& [key, connection] : connections_) {
      // A worker has the request and checks the deadline itself.
      if (connection->phase() != Phase::kAnswering && connection->deadline() < now) {
        keys_.push_back(key);
      }
    }
    for (const std::uint64_t key : keys_) {
      guarded(key, [&] { time_out(key); });
    }
  }

  void time_out(std::uint64_t key) {
    Connection& connection = *connections_.at(key);
    if (connection.is_idle() && connection.has_unread_bytes()) return;  // read in the next round
    if (connection.phase() != Phase::kReading || connection.is_idle()) {
      if (connection.phase() == Phase::kWriting) ++metrics_.timeouts;
      return close(key);
    }
    ++metrics_.timeouts;
    connection.asked_at = Clock::now();
    const HttpResponse response =
        error_response(408, str_cat("the request did not arrive within ",
                                    std::chrono::duration<double>(options_.timeout).count(), " s"));
    metrics_.count_request(response.route, response.status, 0);
    answer(connection, response, 0, true);
    advance(key, connection);
  }

  void close(std::uint64_t key) {
    const auto found = connections_.find(key);
    if (found->second->abandoned != nullptr) *found->second->abandoned = true;
    connections_.erase(found);
    metrics_.connections_open = connections_.size();
    accept_again();
  }

  bool try_watch(int operation, int descriptor, std::uint32_t interest, std::uint64_t key) {
    epoll_event event{};
    event.events = interest;
    event.data.u64 = key;
    return ::epoll_ctl(epoll_.get(), operation, descriptor, &event) == 0;
  }
  void watch(int operation, int descriptor, std::uint32_t interest, std::uint64_t key) {
    BET_CHECK(try_watch(operation, descriptor, interest, key), "epoll: ", system_message());
  }

  // May be called from any thread.
  void wake() {
    const std::uint64_t one = 1;
    // Fails only if it has been woken 2^64 - 1 times already.
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
  }

  const HttpOptions options_;
  const HttpApplication& application_;
  Metrics& metrics_;
  const std::size_t max_connections_;
  ListenSocket listener_;
  const std::string address_;
  const bool is_loopback_;
  const HostCheck hosts_;
  FileHandle epoll_, wake_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::uint64_t next_key_ = kFirstConnection;
  Clock::time_point next_tick_{};
  bool is_accepting_ = true;
  Stop stop_ = Stop::kNo;
  std::vector<std::uint64_t> keys_;  // for those that go through all connections and close some
  std::vector<Answer> taken_;
  struct Victim {
    std::uint64_t key;
    Clock::time_point deadline;
  };
  std::vector<Victim> victims_;  // of this round
  bool has_chosen_victims_ = false;

  std::mutex mutex_;  // guards the shared members: the next two
  std::vector<Answer> answers_;
  Stop wanted_stop_ = Stop::kNo;

  std::optional<WorkerPool> workers_;
  std::thread thread_;
};

HttpServer::HttpServer(const HttpOptions& options, const HttpApplication& application,
                       Metrics& metrics)
    : loop_(std::make_unique<Loop>(options, application, metrics)) {}
HttpServer::~HttpServer() = default;
const std::string& HttpServer::address() const { return loop_->address(); }
bool HttpServer::is_loopback() const { return loop_->is_loopback(); }
void HttpServer::stop() { loop_->end(Loop::Stop::kWhenDone); }

}  // namespace bet
