#include "serve/server_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/error.h"

extern char** environ;  // NOLINT: POSIX's

namespace bet::test {

ServerProcess::ServerProcess(const std::vector<std::string>& arguments, const Start& start) {
  std::vector<std::string> words = {BET_SERVE_PROGRAM, start.command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string errors = (folder_ / "stderr").string();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (start.errors >= 0) {
    ::posix_spawn_file_actions_adddup2(&actions, start.errors, 2);
  } else {
    ::posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0600);
  }
  const int error =
      ::posix_spawn(&process_, pointers[0], &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  BET_CHECK(error == 0, BET_SERVE_PROGRAM, " does not start: error ", error);
}

ServerProcess::~ServerProcess() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

bool ServerProcess::has_ended() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid != 0;
}

bool ServerProcess::ends_within(std::chrono::milliseconds time) const {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (!has_ended()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

bool ServerProcess::wait_for(const std::string& text, int count) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (;;) {
    const bool last_look = has_ended() || std::chrono::steady_clock::now() > deadline;
    const std::string all = said();
    int found = 0;
    for (std::size_t at = 0; (at = all.find(text, at)) != std::string::npos; ++at) ++found;
    if (found >= count || last_look) return found >= count;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

std::string ServerProcess::address() const {
  BET_CHECK(wait_for(" serves "), "the server does not serve: ", said());
  const std::string text = said();
  const std::size_t begin = text.find("http://") + 7;
  return text.substr(begin, text.find(' ', begin) - begin);
}

void ServerProcess::signal(int number) const { ::kill(process_, number); }

int ServerProcess::exit_code() {
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace bet::test
