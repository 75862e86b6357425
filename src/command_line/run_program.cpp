#include "command_line/run_program.h"

#include <algorithm>
#include <exception>
#include <iostream>

namespace bet {

int run_program(CLI::App& app, int argc, const char* const* argv, const Synonyms& synonyms,
                const std::function<std::vector<std::string>(std::vector<std::string>)>& rewrite) {
  constexpr int kFailure = 1;
  constexpr int kUsage = 2;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (rewrite) arguments = rewrite(arguments);
    std::vector<std::string> reversed(arguments.rbegin(),
                                      arguments.rend());  // the order CLI11 expects
    app.parse(std::move(reversed));
    return 0;
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
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
