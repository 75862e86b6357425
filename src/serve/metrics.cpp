#include "serve/metrics.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/resident_memory.h"

namespace bet {
namespace {

void append_family(std::string& text, std::string_view name, std::string_view type,
                   std::string_view help) {
  text += str_cat("# HELP ", name, ' ', help, "\n# TYPE ", name, ' ', type, '\n');
}

template <typename Value>
void append_single(std::string& text, std::string_view name, std::string_view type,
                   std::string_view help, Value value) {
  append_family(text, name, type, help);
  text += str_cat(name, ' ', value, '\n');
}

}  // namespace

void Metrics::count_request(std::string_view route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
  Latency& latency = latencies_[route];
  const auto bucket = std::lower_bound(kBuckets.begin(), kBuckets.end(), seconds);
  ++latency.counts.at(static_cast<std::size_t>(bucket - kBuckets.begin()));
  latency.seconds += seconds;
}

void Metrics::append_requests(std::string& text) const {
  append_family(text, "bet_http_requests_total", "counter", "Requests answered.");
  for (const auto& [key, count] : requests_) {
    text += str_cat("bet_http_requests_total{route=\"", key.first, "\",code=\"", key.second, "\"} ",
                    count, '\n');
  }
}

void Metrics::append_latencies(std::string& text) const {
  constexpr std::string_view kName = "bet_http_request_seconds";
  append_family(text, kName, "histogram",
                "From the last byte of a request to its answer, waiting for a worker included.");
  for (const auto& [route, latency] : latencies_) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < latency.counts.size(); ++i) {
      sum += latency.counts[i];
      text += str_cat(kName, "_bucket{route=\"", route, "\",le=\"");
      text += i < kBuckets.size() ? str_cat(kBuckets[i]) : "+Inf";
      text += str_cat("\"} ", sum, '\n');
    }
    text += str_cat(kName, "_sum{route=\"", route, "\"} ", std::to_string(latency.seconds), '\n',
                    kName, "_count{route=\"", route, "\"} ", sum, '\n');
  }
}

std::string Metrics::text(std::uint64_t model_bytes) const {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    append_requests(text);
    append_latencies(text);
  }
  append_single(text, "bet_http_rejected_total", "counter",
                "Requests answered 503 because the queue was full.", rejected.load());
  append_single(text, "bet_http_timeouts_total", "counter",
                "Connections closed because a request or its answer took too long.",
                timeouts.load());
  append_single(text, "bet_http_evicted_total", "counter",
                "Connections closed to make room for new ones.", evicted.load());
  append_single(text, "bet_http_connections_open", "gauge", "Connections open now.",
                connections_open.load());
  append_single(text, "bet_http_queue_depth", "gauge", "Requests that wait for a worker now.",
                queue_depth.load());
  append_family(text, "bet_model_reloads_total", "counter", "Model files read on SIGHUP.");
  text += str_cat("bet_model_reloads_total{result=\"good\"} ", reloads_good_.load(),
                  "\nbet_model_reloads_total{result=\"bad\"} ", reloads_bad_.load(), '\n');
  append_single(text, "bet_model_file_bytes", "gauge", "Size of the model file that is served.",
                model_bytes);
  append_single(text, "process_resident_memory_bytes", "gauge", "Memory held.", resident_bytes());
  const auto since = [](auto duration) { return std::chrono::duration<double>(duration).count(); };
  append_single(text, "process_start_time_seconds", "gauge", "Start, in seconds since 1970.",
                static_cast<std::uint64_t>(since(started_.time_since_epoch())));
  append_family(text, "bet_build_info", "gauge", "1, with the version.");
  text += "bet_build_info{version=\"" BET_VERSION "\"} 1\n";
  return text;
}

std::string event_metrics_text(const EventLog::Status& status) {
  std::string text;
  append_single(text, "bet_events_total", "counter",
                "Events accepted, those in the log at the start included.", status.events);
  append_single(text, "bet_events_waiting", "gauge",
                "Events that the vectors of the served model do not have yet.", status.waiting);
  append_single(text, "bet_event_log_bytes", "gauge", "Size of the log.", status.log_bytes);
  append_single(text, "bet_event_compactions_total", "counter",
                "How often the model was written to its file and the log begun anew.",
                status.compactions);
  append_single(text, "bet_events_refused", "gauge", "1 if no more events are taken.",
                status.refused.empty() ? 0 : 1);
  return text;
}

}  // namespace bet
