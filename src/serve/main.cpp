#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "serve/commands.h"

int main(int argc, char** argv) {
  constexpr int kFailure = 1;
  constexpr int kUsage = 2;
  CLI::App app("bet-serve: recommendations from a model file", "bet-serve");
  app.set_version_flag("--version", "bet-serve " BET_VERSION);
  app.require_subcommand(1);
  bet::add_recommend(app);
  bet::add_inspect(app);
  bet::add_verify(app);
  bet::add_http(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  } catch (const std::exception& error) {
    std::cerr << "bet-serve: " << error.what() << '\n';
    return kFailure;
  }
}
