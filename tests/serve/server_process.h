#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "support/temp_folder.h"

namespace bet::test {

// `bet-serve http` in a process of its own; killed with the object.
class ServerProcess {
 public:
  struct Start {
    std::string command = "http";  // or another one that may take long
    int errors = -1;               // a descriptor for stderr instead of the file that said() reads
  };

  // Starts `bet-serve http` with these arguments; does not wait.
  explicit ServerProcess(const std::vector<std::string>& arguments)
      : ServerProcess(arguments, Start()) {}
  ServerProcess(const std::vector<std::string>& arguments, const Start& start);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Waits until stderr has the text `count` times; false if the process ends before, or after a
  // minute.
  bool wait_for(const std::string& text, int count = 1) const;
  std::string said() const { return read_file(folder_ / "stderr"); }
  std::string address() const;  // from the line that says that it serves
  void signal(int number) const;
  int exit_code();  // waits; -signal if killed
  bool ends_within(std::chrono::milliseconds time) const;
  pid_t id() const { return process_; }

 private:
  bool has_ended() const;

  TempFolder folder_;
  pid_t process_ = -1;
};

}  // namespace bet::test
