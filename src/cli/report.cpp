#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "run/report_files.h"

namespace bet {

void add_report(CLI::App& app) {
  CLI::App& command =
      *app.add_subcommand("report", "make the page of a run, report.html, again from report.json");
  const auto run = std::make_shared<std::filesystem::path>();  // owned by the parser's callback
  command.add_option("RUN", *run, "a run folder")->required();
  command.callback([run] { std::puts(make_page(*run).c_str()); });
}

}  // namespace bet
