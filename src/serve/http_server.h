#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "serve/http_application.h"
#include "serve/metrics.h"

namespace bet {

struct HttpOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;         // 0: any free one
  std::size_t num_threads = 1;    // that answer
  std::size_t queue_limit = 128;  // requests that may wait for one; others are answered 503
  std::size_t max_body_bytes = 65'536;
  // For a request to come, for it to be answered, for the answer to be taken; and for the next one.
  std::chrono::milliseconds timeout{10'000};
};

// An HTTP/1.1 server: one thread owns the connections and waits for all of them at once, so that
// slow and silent clients cost no more than their memory; workers answer.
class HttpServer {
 public:
  // Listens and serves when it returns. Application and metrics must outlive it. Throws Error if
  // the address is not to be had.
  HttpServer(const HttpOptions& options, const HttpApplication& application, Metrics& metrics);
  // Drops what is under way, unless stop() has been called.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  const std::string& address() const;  // "127.0.0.1:8080"
  bool is_loopback() const;

  // Takes no more connections, answers every request that has begun to come, closes the others, and
  // returns when the last is gone: after three timeouts at most, and what a worker needs. From any
  // thread, once.
  void stop();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace bet
