#include "ranks/world.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/error.h"
#include "ranks/first_line.h"
#include "ranks/gloo_ranks.h"
#include "ranks/own_address.h"

namespace bet {
namespace {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;
using StorePointer = c10::intrusive_ptr<c10d::Store>;

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }
std::string text_of(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

std::string joined_key(std::uint32_t rank) { return str_cat("joined/", rank); }
std::string alive_key(std::uint32_t rank) { return str_cat("alive/", rank); }
std::string left_key(std::uint32_t rank) { return str_cat("left/", rank); }
std::string lines_key(std::uint32_t rank) { return str_cat("lines/", rank); }
constexpr const char* kOpened = "opened";
constexpr const char* kVerdict = "verdict";
constexpr const char* kStop = "stop";
// What a rank leaves behind: why it gave up, or this.
constexpr const char* kDone = "done";

StorePointer open_store(const PlaceInWorld& place, bool hosts, Milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = place.port;
  options.isServer = hosts;
  options.waitWorkers = false;
  options.timeout = std::max<Milliseconds>(timeout, 2s);  // below it c10d does not try twice
  StorePointer store = c10::make_intrusive<c10d::PrefixStore>(
      place.store_prefix, c10::make_intrusive<c10d::TCPStore>(place.host, options));
  // LibTorch 1.13 applies the timeout to a connection with the first value that it waits for;
  // before that, calls wait without end.
  store->set(kOpened, bytes_of("-"));
  store->get(kOpened);
  return store;
}

// The first line that differs, as a sentence about two ranks.
std::string difference(const std::string& of_first, const std::string& of_other,
                       std::uint32_t other) {
  std::istringstream first_lines(of_first);
  std::istringstream other_lines(of_other);
  std::string one;
  std::string two;
  do {
    one.clear();
    two.clear();
    std::getline(first_lines, one);
    std::getline(other_lines, two);
  } while (one == two && (first_lines || other_lines));
  return str_cat("rank ", other, " has ", two.empty() ? "nothing" : in_quotes(two),
                 " where rank 0 has ", one.empty() ? "nothing" : in_quotes(one));
}

// Ends a rank that has nothing on disk, from any thread.
[[noreturn]] void end_process(std::uint32_t rank, const std::string& reason) {
  std::fprintf(stderr, "bet: rank %u: %s\n", rank, reason.c_str());
  std::fflush(stderr);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

struct World::Connection {
  StorePointer store;
};

// The thread that tells that this rank is alive, and one that watches it, since a store that does
// not answer may block a call for ever. Both count their own rounds, not the time: a process that
// was stopped and continued has heard of nobody for long, and is itself to blame.
class World::Pulse {
 public:
  // A connection of its own: calls of one are made one after the other.
  Pulse(const PlaceInWorld& place, const std::string& meeting_place, Milliseconds timeout)
      : place_(place),
        meeting_place_(meeting_place),
        beat_(std::clamp(timeout / 10, 10ms, 1000ms)),
        patience_(static_cast<std::uint32_t>(timeout / beat_)),
        store_(open_store(place, false, timeout)),
        ranks_(place.size),
        beating_([this] { beat(); }),
        watching_([this] { watch(); }) {}

  ~Pulse() {
    {
      const std::scoped_lock lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    beating_.join();
    watching_.join();
  }

  bool is_lost(std::uint32_t rank) const { return !why_lost(rank).empty(); }

  // Empty: it is not.
  std::string why_lost(std::uint32_t rank) const {
    const std::scoped_lock lock(mutex_);
    const Other& other = ranks_[rank];
    if (!other.left.empty()) return other.left == kDone ? "is done" : "gave up: " + other.left;
    if (other.silent < patience_) return "";
    return str_cat("was not heard of for ", static_cast<double>((beat_ * patience_).count()) / 1000,
                   " s");
  }

  bool stop_asked() const { return stop_asked_; }

 private:
  struct Other {
    std::int64_t beats = 0;
    std::uint32_t silent = 0;  // rounds
    std::string left;          // what it left behind
  };

  // False once the world ends.
  bool rest() {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, beat_, [this] { return ended_; });
  }

  void beat() {
    try {
      do {
        store_->add(alive_key(place_.rank), 1);
        for (std::uint32_t rank = 0; rank < place_.size; ++rank) hear(rank);
        if (store_->check({kStop})) stop_asked_ = true;
        unanswered_ = 0;
      } while (rest());
    } catch (const std::exception& error) {
      const std::scoped_lock lock(mutex_);
      if (!ended_) lose_store(first_line(error.what()));
    }
  }

  void hear(std::uint32_t rank) {
    if (rank == place_.rank) return;
    const std::int64_t beats = store_->add(alive_key(rank), 0);
    std::string left;
    if (store_->check({left_key(rank)})) left = text_of(store_->get(left_key(rank)));
    if (rank == 0 && !left.empty()) follow(left);
    const std::scoped_lock lock(mutex_);
    Other& other = ranks_[rank];
    other.silent = beats == other.beats ? other.silent + 1 : 0;
    other.beats = beats;
    other.left = left;
  }

  // Ends what rank 0 no longer needs; with it, if it gave up.
  void follow(const std::string& left) {
    stop_asked_ = true;
    if (left == kDone) return;
    store_->set(left_key(place_.rank), bytes_of(kDone));
    const std::scoped_lock lock(mutex_);
    if (!ended_) end_process(place_.rank, "rank 0 gave up: " + left);
  }

  void watch() {
    while (rest()) {
      if (++unanswered_ < patience_) continue;
      const std::scoped_lock lock(mutex_);
      if (!ended_) lose_store("no answer");
    }
  }

  // Under the lock.
  void lose_store(const std::string& why) {
    if (place_.rank > 0) {
      end_process(place_.rank, str_cat("lost rank 0 at ", meeting_place_, ": ", why));
    }
    for (Other& other : ranks_) other.silent = patience_;
  }

  PlaceInWorld place_;
  std::string meeting_place_;
  Milliseconds beat_;
  std::uint32_t patience_;  // rounds
  StorePointer store_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::vector<Other> ranks_;
  std::atomic<bool> stop_asked_ = false;
  std::atomic<std::uint32_t> unanswered_ = 0;  // rounds
  std::thread beating_;
  std::thread watching_;
};

World::World(PlaceInWorld place, Milliseconds timeout)
    : place_(std::move(place)), timeout_(timeout), told_lost_(place_.size) {
  const bool hosts = place_.rank == 0 && !place_.store_is_there;
  try {
    connection_ = std::make_unique<Connection>(Connection{open_store(place_, hosts, timeout)});
    pulse_ = std::make_unique<Pulse>(place_, meeting_place(), timeout);
  } catch (const std::exception& error) {
    fail(hosts ? "rank 0 cannot listen at " : str_cat("rank ", rank(), " cannot reach rank 0 at "),
         meeting_place(), ": ", first_line(error.what()));
  }
  // Who this is, so that two processes that were given the same rank are noticed.
  const std::string name = str_cat(::getpid(), " ", std::random_device()());
  BET_CHECK(exchange(joined_key(rank()), "", name) == name, "two processes are rank ", rank(),
            " of ", size(), " at ", meeting_place());
  try {
    wait_for_all();
  } catch (const Error& error) {
    give_up(error.what());
    leave();
    throw;
  }
}

World::~World() {
  try {
    leave();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bet: rank %u: could not say goodbye: %s\n", rank(), error.what());
    // A store that does not answer, because it waits for the rest of a message, would be waited for
    // without end: it is left to the end of the process.
    static_cast<void>(connection_.release());
  }
}

std::string World::meeting_place() const {
  return str_cat(place_.host, ":", place_.port, " (MASTER_ADDR, MASTER_PORT)");
}

template <typename Call>
auto World::answer(const Call& call) const {
  try {
    return call();
  } catch (const std::exception& error) {
    fail_as(ErrorKind::kInternal, "rank ", rank(), ": the store at ", meeting_place(),
            " does not answer: ", first_line(error.what()));
  }
}

void World::wait_for_all() {
  const auto end = std::chrono::steady_clock::now() + timeout_;
  while (true) {
    std::string missing;
    for (std::uint32_t other = 0; other < size(); ++other) {
      if (!has(joined_key(other))) missing += str_cat(missing.empty() ? "" : ", ", other);
    }
    if (missing.empty()) return;
    if (std::chrono::steady_clock::now() > end) {
      fail("of ", size(), " ranks these did not come to ", meeting_place(), " within ",
           static_cast<double>(timeout_.count()) / 1000, " s: ", missing);
    }
    std::this_thread::sleep_for(10ms);
  }
}

void World::agree(const std::string& lines) {
  set(lines_key(rank()), lines);
  std::string verdict;
  if (rank() == 0) {
    for (std::uint32_t other = 1; other < size() && verdict.empty(); ++other) {
      const std::string theirs = wait_for(lines_key(other), other);
      if (theirs != lines) verdict = difference(lines, theirs, other);
    }
    set(kVerdict, "-" + verdict);
  } else {
    verdict = wait_for(kVerdict, 0).substr(1);
  }
  BET_CHECK(verdict.empty(),
            "the ranks of a run need the same data, options and version: ", verdict);
}

std::unique_ptr<RankGroup> World::join_group() const {
  return join_gloo_ranks(answer([&]() -> StorePointer {
                           return c10::make_intrusive<c10d::PrefixStore>(
                               "group/", open_store(place_, false, timeout_));
                         }),
                         {.rank = rank(),
                          .size = size(),
                          .address = own_address_towards(place_.host, place_.port),
                          .timeout = timeout_});
}

void World::set(const std::string& key, const std::string& value) {
  answer([&] { connection_->store->set(key, bytes_of(value)); });
}

bool World::has(const std::string& key) {
  return answer([&] { return connection_->store->check({key}); });
}

std::string World::wait_for(const std::string& key, std::uint32_t from) {
  while (!has(key)) {
    const std::string lost = pulse_->why_lost(from);
    if (!lost.empty() && !has(key)) fail_as(ErrorKind::kInternal, "rank ", from, " ", lost);
    std::this_thread::sleep_for(5ms);
  }
  return answer([&] { return text_of(connection_->store->get(key)); });
}

std::string World::exchange(const std::string& key, const std::string& expected,
                            const std::string& value) {
  return answer([&] {
    return text_of(connection_->store->compareSet(key, bytes_of(expected), bytes_of(value)));
  });
}

bool World::is_lost(std::uint32_t rank) const { return pulse_->is_lost(rank); }

std::vector<std::string> World::losses() {
  std::vector<std::string> sentences;
  for (std::uint32_t other = 0; other < size(); ++other) {
    const std::string lost = pulse_->why_lost(other);
    if (!lost.empty() && !told_lost_[other]) {
      sentences.push_back(str_cat("rank ", other, " ", lost));
    }
    told_lost_[other] = !lost.empty();
  }
  return sentences;
}

std::vector<std::string> World::wait_for_losses() {
  // Ranks beat once a second or more often.
  const auto end = std::chrono::steady_clock::now() + 3s;
  std::vector<std::string> sentences = losses();
  while (sentences.empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(10ms);
    sentences = losses();
  }
  return sentences;
}

void World::ask_to_stop() { set(kStop, "-"); }

bool World::asked_to_stop() const { return pulse_->stop_asked(); }

void World::give_up(const std::string& reason) {
  try {
    set(left_key(rank()), reason);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the reason is what its caller reports,
    // and the others notice a rank that is not heard of.
  }
}

void World::leave() {
  exchange(left_key(rank()), "", kDone);
  if (rank() == 0) {
    // The store ends with rank 0.
    for (std::uint32_t other = 1; other < size(); ++other) {
      while (!has(left_key(other)) && !is_lost(other)) std::this_thread::sleep_for(5ms);
    }
  }
  pulse_.reset();
}

}  // namespace bet
