#include "support/run_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "support/temp_folder.h"

namespace bet::test {
namespace {

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Files for the standard streams of a program that is run, and its result from them.
class Streams {
 public:
  explicit Streams(const std::string& input) { folder_.write("in", input); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  ProgramResult result(int status) const {
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), read_file(path("out")),
            read_file(path("err"))};
  }

 private:
  TempFolder folder_;
};

ProgramResult run(const char* program, const std::vector<std::string>& arguments,
                  const std::string& input) {
  const Streams streams(input);
  std::string command = shell_quoted(program);
  for (const std::string& argument : arguments) command += " " + shell_quoted(argument);
  command += " <" + streams.path("in") + " >" + streams.path("out") + " 2>" + streams.path("err");
  return streams.result(std::system(command.c_str()));
}

std::size_t num_threads() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}

// Those that LibTorch's libraries start when they are loaded (OpenBLAS) are started anew in a copy.
struct Here {
  ProgramMain bet_main = nullptr;
  std::size_t num_threads = 0;
};
Here& here() {
  static Here known;
  return known;
}

void take_stream(const std::string& path, int flags, int stream) {
  const int file = ::open(path.c_str(), flags, 0600);
  if (file < 0 || ::dup2(file, stream) < 0) ::_exit(99);
  ::close(file);
}

ProgramResult run_here(const std::vector<std::string>& arguments, const std::string& input) {
  const Streams streams(input);
  std::fflush(nullptr);
  std::cout.flush();
  const pid_t child = ::fork();
  if (child == 0) {
    take_stream(streams.path("in"), O_RDONLY, STDIN_FILENO);
    take_stream(streams.path("out"), O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    take_stream(streams.path("err"), O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    std::vector<std::string> words = {BET_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> line;
    for (std::string& word : words) line.push_back(word.data());
    line.push_back(nullptr);
    const int code = here().bet_main(static_cast<int>(words.size()), line.data());
    std::cout.flush();
    std::fflush(nullptr);
    ::_exit(code);  // what is destroyed at exit belongs to the tests
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return streams.result(status);
}

}  // namespace

std::vector<std::string> by_bpr(std::vector<std::string> arguments) {
  const bool fits = !arguments.empty() && arguments[0] == "fit";
  if (!fits || std::ranges::find(arguments, "--loss") != arguments.end()) return arguments;
  arguments.insert(arguments.begin() + 1, {"--loss", "bpr"});
  return arguments;
}

ProgramResult run_bet(const std::vector<std::string>& arguments, const std::string& input) {
  const bool can_copy = here().bet_main != nullptr && num_threads() <= here().num_threads;
  return can_copy ? run_here(by_bpr(arguments), input) : run(BET_PROGRAM, by_bpr(arguments), input);
}

ProgramResult run_bet_file(const std::vector<std::string>& arguments) {
  return run(BET_PROGRAM, by_bpr(arguments), "");
}

ProgramResult run_bet_serve(const std::vector<std::string>& arguments) {
  return run(BET_SERVE_PROGRAM, arguments, "");
}

bool set_bet_main(ProgramMain bet_main) {
  here() = {bet_main, num_threads()};
  return true;
}

}  // namespace bet::test
