#include "serve/log_lines.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace bet {
namespace {

constexpr std::size_t kMaxWaiting = 1'000;
constexpr auto kPatience = std::chrono::seconds(1);

// Blocks as long as the reader wants; gives up on an error, such as a reader that has gone.
void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      // Another process has made the file non-blocking.
      pollfd file{descriptor, POLLOUT, 0};
      ::poll(&file, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

// Needs no memory.
void write_dropped(int descriptor, std::uint64_t count, LogLines::Form form) {
  std::array<char, 80> line{};
  const char* const format = form == LogLines::Form::kText
                                 ? "bet-serve: %llu lines of the log were dropped here\n"
                                 : "{\"message\":\"%llu lines of the log were dropped here\"}\n";
  const int length =
      std::snprintf(line.data(), line.size(), format, static_cast<unsigned long long>(count));
  write_all(descriptor, {line.data(), static_cast<std::size_t>(length)});
}

}  // namespace

struct LogLines::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> waiting;  // has room for kMaxWaiting
  std::uint64_t num_dropped = 0;
  bool is_writing = false;
  bool ends = false;
  Form form = Form::kText;

  bool is_done() const { return waiting.empty() && num_dropped == 0 && !is_writing; }

  // `lines` has the same room: what is waiting is swapped with it, and nothing is allocated.
  void write_lines(int descriptor, std::vector<std::string> lines) {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return !waiting.empty() || num_dropped > 0 || ends; });
      if (is_done()) return;
      lines.clear();
      lines.swap(waiting);
      const std::uint64_t dropped = std::exchange(num_dropped, 0);
      is_writing = true;
      lock.unlock();
      for (const std::string& line : lines) write_all(descriptor, line);
      if (dropped > 0) write_dropped(descriptor, dropped, form);
      lock.lock();
      is_writing = false;
      changed.notify_all();
    }
  }
};

LogLines::LogLines(int descriptor, Form form) : form_(form), state_(std::make_shared<State>()) {
  state_->form = form;
  std::vector<std::string> lines;
  lines.reserve(kMaxWaiting);
  state_->waiting.reserve(kMaxWaiting);
  std::thread([state = state_, descriptor, lines = std::move(lines)]() mutable {
    state->write_lines(descriptor, std::move(lines));
  }).detach();
}

LogLines::~LogLines() {
  std::unique_lock lock(state_->mutex);
  state_->ends = true;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, kPatience, [this] { return state_->is_done(); });
}

void LogLines::add(const std::string& text) noexcept {
  add_line([&] {
    return form_ == Form::kText ? str_cat("bet-serve: ", text, '\n') : message_line(text);
  });
}

void LogLines::add(const AccessEntry& entry) noexcept {
  add_line([&] { return access_line(entry); });
}

template <typename Line>
void LogLines::add_line(const Line& line) noexcept {
  const std::lock_guard lock(state_->mutex);
  try {
    if (state_->waiting.size() < kMaxWaiting) {
      state_->waiting.push_back(line());
    } else {
      ++state_->num_dropped;
    }
  } catch (const std::exception&) {
    ++state_->num_dropped;
  }
  state_->changed.notify_all();
}

}  // namespace bet
