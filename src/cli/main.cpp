#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/config_file.h"

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
  bet::add_fit(app);
  bet::add_evaluate(app);
  bet::add_export(app);
  bet::add_plan(app);
  CLI::App& resume = *app.add_subcommand("resume", "go on with a run that was broken off");
  std::string run;
  resume.add_option("RUN", run, "a run folder; further options are those of fit")->required();
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    arguments = bet::with_config_file(app, bet::resume_as_fit(std::move(arguments)));
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    app.parse(std::move(arguments));
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  } catch (const std::exception& error) {
    std::cerr << "bet: " << error.what() << '\n';
    return kFailure;
  }
}
