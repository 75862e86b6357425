#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "base/error.h"
#include "cli/commands.h"

namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("bet: recommenders that fit into a given amount of memory", "bet");
  app.set_version_flag("--version", "bet " BET_VERSION);
  app.require_subcommand(1);
  CLI::App& data = *app.add_subcommand("data", "read, make and fetch interaction data");
  data.require_subcommand(1);
  bet::add_data_stats(data);
  bet::add_data_synth(data);
  bet::add_data_list(data);
  bet::add_data_get(data);
  bet::add_plan(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  } catch (const std::exception& error) {
    std::cerr << "bet: " << error.what() << '\n';
    return kFailure;
  }
}
