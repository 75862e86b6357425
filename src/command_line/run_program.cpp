#include "command_line/run_program.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>

namespace bet {
namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;

// The exit code, or that of a failure, and a message, where the output could not be written.
int after_output(const CLI::App& app, int exit_code) {
  errno = 0;
  const bool written =
      std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.flush().good();
  if (written) return exit_code;
  std::cerr << app.get_name() << ": cannot write to standard output"
            << (errno != 0 ? std::string(": ") + std::strerror(errno) : "") << '\n';
  return exit_code != 0 ? exit_code : kFailure;
}

}  // namespace

int run_program(CLI::App& app, int argc, const char* const* argv, const Synonyms& synonyms,
                const std::function<std::vector<std::string>(std::vector<std::string>)>& rewrite) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (rewrite) arguments = rewrite(arguments);
    std::vector<std::string> reversed(arguments.rbegin(),
                                      arguments.rend());  // the order CLI11 expects
    app.parse(std::move(reversed));
    return after_output(app, 0);
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return after_output(app, app.exit(error));  // --help, --version
    const std::string unknown = unknown_word(app, arguments, synonyms);
    std::cerr << app.get_name() << ": " << (unknown.empty() ? error.what() : unknown)
              << "\nRun with --help for more information.\n";
    return kUsage;
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": " << error.what() << '\n';
    return kFailure;
  }
}

}  // namespace bet
