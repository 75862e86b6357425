#include "serve/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace bet {
namespace {

constexpr std::size_t kChunkBytes = 16'384;
// For the client to read the answer: closing while it still sends would reset the connection and
// lose the answer.
constexpr auto kLinger = std::chrono::seconds(2);

bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Connection::Connection(FileHandle socket, std::size_t max_body_bytes, Clock::duration timeout)
    : socket_(std::move(socket)), parser_(max_body_bytes), timeout_(timeout) {
  const int yes = 1;  // answers are written whole: waiting to fill a packet would only delay them
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  enter(Phase::kReading);
}

void Connection::enter(Phase phase) {
  phase_ = phase;
  const Clock::duration time =
      phase == Phase::kLingering ? std::min<Clock::duration>(timeout_, kLinger) : timeout_;
  phase_begin_ = Clock::now();
  deadline_ = phase_begin_ + time;
}

bool Connection::has_unread_bytes() const {
  char byte = 0;
  return ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

bool Connection::parse() {
  using State = RequestParser::State;
  if (phase_ != Phase::kReading) return false;
  if (!in_.empty()) {
    const bool was_idle = is_idle();
    in_.erase(0, parser_.feed(in_));
    // The time for a request runs from its first byte to its last.
    if (was_idle && !is_idle()) enter(Phase::kReading);
  }
  if (parser_.expects_continue() && !said_continue_) send_continue();
  return parser_.state() == State::kDone || parser_.state() == State::kFailed;
}

void Connection::send_continue() {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  said_continue_ = true;
  // So few bytes fit the socket once all answers are sent; otherwise the client continues after its
  // own timeout.
  ::send(socket_.get(), kContinue.data(), kContinue.size(), MSG_NOSIGNAL);
}

HttpRequest Connection::take_request() {
  HttpRequest request = parser_.take_request();
  head_only_ = request.method == "HEAD";
  keep_alive_ = request.keep_alive;
  asked_at = Clock::now();
  enter(Phase::kAnswering);
  request.deadline = deadline_;
  return request;
}

void Connection::read() {
  std::array<char, kChunkBytes> chunk;  // NOLINT(*-member-init): filled by recv
  const ssize_t count = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
  if (count < 0 && would_wait()) return;
  if (count <= 0) {
    phase_ = Phase::kClosed;
  } else if (phase_ == Phase::kReading) {
    in_.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

void Connection::answer(const HttpResponse& response, bool close, std::string_view more_headers) {
  keep_alive_ = keep_alive_ && !close && !has_failed();
  out_ = response_bytes(response, keep_alive_, head_only_, more_headers);
  sent_ = 0;
  abandoned.reset();
  enter(Phase::kWriting);
  write();
}

void Connection::write() {
  while (sent_ < out_.size()) {
    const ssize_t count =
        ::send(socket_.get(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
    if (count < 0) {
      if (!would_wait()) phase_ = Phase::kClosed;
      return;
    }
    sent_ += static_cast<std::size_t>(count);
  }
  out_ = std::string();
  if (keep_alive_) {
    parser_.reset();
    said_continue_ = false;
    head_only_ = false;
    is_kept_ = true;
    return enter(Phase::kReading);
  }
  ::shutdown(socket_.get(), SHUT_WR);
  enter(Phase::kLingering);
}

}  // namespace bet
