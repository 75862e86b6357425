#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "serve/event_log.h"

namespace bet {

// The counters of the server, in the text format of Prometheus. Any thread may call anything.
class Metrics {
 public:
  // Counts a request that has been answered; `seconds` run from its last byte to the answer's
  // first. `route` must be a literal.
  void count_request(std::string_view route, int status, double seconds);
  void count_reload(bool good) { (good ? reloads_good_ : reloads_bad_).fetch_add(1); }

  std::atomic<std::uint64_t> rejected{0};  // answered 503 because the queue was full
  std::atomic<std::uint64_t> timeouts{0};  // connections closed in the middle of a request
  std::atomic<std::uint64_t> evicted{0};   // connections closed to make room for others
  std::atomic<std::uint64_t> connections_open{0};
  std::atomic<std::uint64_t> queue_depth{0};  // requests that wait for a worker

  // All counters, with the size of the model file that is served.
  std::string text(std::uint64_t model_bytes) const;

 private:
  // Upper bounds of the buckets, seconds; one more bucket is unbounded.
  static constexpr std::array<double, 12> kBuckets = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                      0.05,   0.1,   0.25,   0.5,   1,    5};
  struct Latency {
    std::array<std::uint64_t, kBuckets.size() + 1> counts{};
    double seconds = 0;
  };

  void append_requests(std::string& text) const;
  void append_latencies(std::string& text) const;

  mutable std::mutex mutex_;  // guards the two maps
  std::map<std::pair<std::string_view, int>, std::uint64_t> requests_;
  std::map<std::string_view, Latency> latencies_;
  std::atomic<std::uint64_t> reloads_good_{0};
  std::atomic<std::uint64_t> reloads_bad_{0};
  const std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
};

// What is known of a log of events, in the same format.
std::string event_metrics_text(const EventLog::Status& status);

}  // namespace bet
