#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_handle.h"
#include "serve/http_parser.h"

namespace bet {

// One client's connection: its bytes in and out, and its phase. For one thread; knows nothing of
// epoll and workers.
class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Phase {
    kReading,    // reading a request, or waiting for one
    kAnswering,  // a worker has the request; nothing is read meanwhile
    kWriting,    // writing an answer
    kLingering,  // everything is sent; input is discarded until the client closes
    kClosed,     // to be removed
  };

  // The socket must be non-blocking. Each phase may take `timeout` in all.
  Connection(FileHandle socket, std::size_t max_body_bytes, Clock::duration timeout);

  int socket() const { return socket_.get(); }
  Phase phase() const { return phase_; }
  Clock::time_point deadline() const { return deadline_; }
  Clock::time_point phase_begin() const { return phase_begin_; }
  // Whether the connection is open for a further request after an answer.
  bool is_kept() const { return is_kept_ && phase_ != Phase::kLingering; }
  // Whether the client has sent bytes that were not read yet.
  bool has_unread_bytes() const;
  // No byte of a request has been read.
  bool is_idle() const { return phase_ == Phase::kReading && !parser_.has_begun(); }

  // True if a request is complete (take_request) or malformed (error). To be called after every
  // read() and every answer, until it is false.
  bool parse();
  bool has_failed() const { return parser_.state() == RequestParser::State::kFailed; }
  const HttpResponse& error() const { return parser_.error(); }
  HttpRequest take_request();

  // Read and write as much as the socket allows without blocking. At most one chunk is read, so
  // that no client holds the thread for long.
  void read();
  void write();
  // Begins to write. Keeps the connection afterwards if the request asked for it and not `close`.
  void answer(const HttpResponse& response, bool close, std::string_view more_headers = {});

  // Set while a worker has the request; becomes true when nobody waits for the answer any more. Two
  // owners: the connection and the worker's job.
  std::shared_ptr<std::atomic<bool>> abandoned;
  Clock::time_point asked_at{};  // when the request was complete
  // The request that is being answered, for the access log; empty where none is kept.
  std::string method, path, request_id;

 private:
  void enter(Phase phase);
  void send_continue();

  FileHandle socket_;
  RequestParser parser_;
  Clock::duration timeout_;
  Phase phase_ = Phase::kReading;
  Clock::time_point phase_begin_;
  Clock::time_point deadline_;
  std::string in_;  // read and not yet parsed
  std::string out_;
  std::size_t sent_ = 0;
  bool said_continue_ = false;
  bool head_only_ = false;
  bool keep_alive_ = false;
  bool is_kept_ = false;
};

}  // namespace bet
