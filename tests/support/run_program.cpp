#include "support/run_program.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>

#include "support/temp_folder.h"

namespace bet::test {
namespace {

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

ProgramResult run(const char* program, const std::vector<std::string>& arguments,
                  const std::string& input) {
  const TempFolder folder;
  std::string command = shell_quoted(program);
  for (const std::string& argument : arguments) command += " " + shell_quoted(argument);
  command += " <" + folder.write("in", input).string();
  command += " >" + (folder / "out").string() + " 2>" + (folder / "err").string();
  const int status = std::system(command.c_str());
  ProgramResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  result.out = read_file(folder / "out");
  result.err = read_file(folder / "err");
  return result;
}

}  // namespace

std::vector<std::string> by_bpr(std::vector<std::string> arguments) {
  const bool fits = !arguments.empty() && arguments[0] == "fit";
  if (!fits || std::ranges::find(arguments, "--loss") != arguments.end()) return arguments;
  arguments.insert(arguments.begin() + 1, {"--loss", "bpr"});
  return arguments;
}

ProgramResult run_bet(const std::vector<std::string>& arguments, const std::string& input) {
  return run(BET_PROGRAM, by_bpr(arguments), input);
}

ProgramResult run_bet_serve(const std::vector<std::string>& arguments) {
  return run(BET_SERVE_PROGRAM, arguments, "");
}

}  // namespace bet::test
