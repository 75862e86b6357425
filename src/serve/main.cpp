#include <CLI/CLI.hpp>

#include "command_line/run_program.h"
#include "serve/commands.h"
#include "serve/update_command.h"

int main(int argc, char** argv) {
  CLI::App app("bet-serve: recommendations from a model file", "bet-serve");
  app.set_version_flag("--version", "bet-serve " BET_VERSION);
  app.require_subcommand(1);
  bet::add_recommend(app);
  bet::add_inspect(app);
  bet::add_verify(app);
  bet::add_update(app);
  bet::add_http(app);
  bet::add_page(app);
  const bet::Synonyms synonyms = {
      {"serve", "http"},   {"server", "http"}, {"info", "inspect"},  {"show", "inspect"},
      {"check", "verify"}, {"fit", "bet fit"}, {"train", "bet fit"}, {"export", "bet export"}};
  return bet::run_program(app, argc, argv, synonyms, nullptr);
}
