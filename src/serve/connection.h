#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "serve/file_handle.h"
#include "serve/http_parser.h"

namespace bet {

// One client's connection: its bytes in and out, and where it stands. For one thread; says nothing
// to epoll and nothing to workers.
class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Phase {
    kReading,    // a request, or the wait for one
    kAnswering,  // a worker has the request; nothing is read meanwhile
    kWriting,    // an answer
    kLingering,  // all is sent and said; what still comes is thrown away until the client is done
    kClosed,     // nothing more can be done
  };

  // The socket must not block. Each phase may take `timeout` in all.
  Connection(FileHandle socket, std::size_t max_body_bytes, Clock::duration timeout);

  int socket() const { return socket_.get(); }
  Phase phase() const { return phase_; }
  Clock::time_point deadline() const { return deadline_; }
  // Nothing of a request has come.
  bool is_idle() const { return phase_ == Phase::kReading && !parser_.has_begun(); }

  // True if a request is whole, or can no longer become one: take it, or see error(). To be asked
  // after every read() and every answer, until false.
  bool parse();
  bool has_failed() const { return parser_.state() == RequestParser::State::kFailed; }
  const HttpResponse& error() const { return parser_.error(); }
  HttpRequest take_request();

  // What the socket has, or can take, as far as it goes without waiting. At most one chunk is read,
  // so that nobody has the thread for long.
  void read();
  void write();
  // Begins to write; the next phase follows from the request and `close`.
  void answer(const HttpResponse& response, bool close);

  // Set while a worker has the request; true there means that nobody waits any more. Two owners:
  // the connection and the worker's job.
  std::shared_ptr<std::atomic<bool>> abandoned;
  Clock::time_point asked_at{};  // when the request was whole

 private:
  void enter(Phase phase);
  void send_continue();

  FileHandle socket_;
  RequestParser parser_;
  Clock::duration timeout_;
  Phase phase_ = Phase::kReading;
  Clock::time_point deadline_;
  std::string in_;  // read and not yet parsed
  std::string out_;
  std::size_t sent_ = 0;
  bool said_continue_ = false;
  bool head_only_ = false;
  bool keep_alive_ = false;
};

}  // namespace bet
