#pragma once

#include <memory>
#include <string>

#include "serve/access_log.h"

namespace bet {

// Lines of a program's log. A thread of its own writes them, so that nobody else waits where the
// reader of the log has stopped reading (a full pipe). Any thread may call anything.
class LogLines {
 public:
  // Text lines begin with "bet-serve: "; lines of JSON are objects (access_log.h).
  enum class Form { kText, kJson };

  // Writes to the file descriptor, which must stay open as long as the process.
  explicit LogLines(int descriptor, Form form = Form::kText);
  // Waits until the lines are written, but no longer than a second. What has not been written then
  // is lost with the process.
  ~LogLines();
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  // Adds a line with this text. Returns at once and never throws: a line for which there is no
  // memory, or that comes when a thousand are waiting, is dropped, and the log says later how many
  // were.
  void add(const std::string& text) noexcept;
  // The same for the access log, in JSON.
  void add(const AccessEntry& entry) noexcept;

 private:
  struct State;
  template <typename Line>
  void add_line(const Line& line) noexcept;

  const Form form_;
  // Two owners: this and the thread, which may be blocked in a write when this is destroyed.
  std::shared_ptr<State> state_;
};

}  // namespace bet
