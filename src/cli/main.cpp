#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/config_file.h"
#include "command_line/run_program.h"
#include "serve/update_command.h"

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
  bet::add_compare(app);
  bet::add_evaluate(app);
  bet::add_experiment(app);
  bet::add_export(app);
  bet::add_plan(app);
  bet::add_report(app);
  bet::add_resume(app);
  bet::add_update(app);
  const bet::Synonyms synonyms = {{"train", "fit"},
                                  {"search", "fit"},
                                  {"test", "evaluate"},
                                  {"continue", "resume"},
                                  {"stats", "data stats"},
                                  {"synth", "data synth"},
                                  {"get", "data get"},
                                  {"download", "data get"},
                                  {"list", "data list"},
                                  {"recommend", "bet-serve recommend"},
                                  {"inspect", "bet-serve inspect"},
                                  {"verify", "bet-serve verify"},
                                  {"serve", "bet-serve http"},
                                  {"http", "bet-serve http"}};
  return bet::run_program(app, argc, argv, synonyms, [&](std::vector<std::string> arguments) {
    return bet::with_config_file(app, bet::resume_as_fit(app, std::move(arguments)));
  });
}
