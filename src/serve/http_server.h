#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/access_log.h"
#include "serve/http_application.h"
#include "serve/metrics.h"

namespace bet {

struct HttpOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;         // 0: any free one
  std::size_t num_threads = 1;    // threads that answer requests
  std::size_t queue_limit = 128;  // requests that may wait for a thread; others get 503
  std::size_t max_body_bytes = 65'536;
  // The limit for each of: receiving a request, waiting for its turn, sending the answer, and the
  // time until the next request.
  std::chrono::milliseconds timeout{10'000};
  // Hosts of requests that are answered (host_names.h); others get 421.
  std::vector<std::string> allowed_hosts;
  // Called on the network thread for every answer, if set; must not block. Answers then have an
  // X-Request-Id.
  std::function<void(const AccessEntry&)> on_answer;
};

// An HTTP/1.1 server: one thread owns the connections and waits for all of them at once, so that
// slow and silent clients cost no more than their memory; workers answer. Where memory for a
// connection is lacking, that connection is closed and the others are served.
class HttpServer {
 public:
  // Listens and serves when it returns. Application and metrics must outlive it. Throws Error if it
  // cannot listen on the address, and for an allowed host that is not a name or an address.
  HttpServer(const HttpOptions& options, const HttpApplication& application, Metrics& metrics);
  // Drops the requests in progress, unless stop() has been called.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  const std::string& address() const;  // "127.0.0.1:8080"
  bool is_loopback() const;

  // Accepts no more connections, answers every request that has begun to arrive, closes all other
  // connections, and returns when the last one is closed: after three timeouts at most, and the
  // time that a worker needs. May be called from any thread, once.
  void stop();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace bet
