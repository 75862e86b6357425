#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/progress_line.h"
#include "data/catalogue.h"

namespace bet {
namespace {

struct GetCommand {
  std::string name;
  std::string out;
};

}  // namespace

void add_data_get(CLI::App& data) {
  CLI::App& command =
      *data.add_subcommand("get", "fetch a public data set; run it again to resume");
  const auto options = std::make_shared<GetCommand>();  // owned by the parser's callback
  command.add_option("NAME", options->name, "a name of `bet data list`")->required();
  command.add_option("--out", options->out, "folder to put it into (default data/NAME)");
  command.callback([options] {
    const CatalogueEntry& entry = find_in_catalogue(options->name);
    const std::filesystem::path folder = options->out.empty()
                                             ? std::filesystem::path("data") / entry.name
                                             : std::filesystem::path(options->out);
    std::fprintf(stderr, "%s: %s\n", entry.name.c_str(), entry.licence.c_str());
    ProgressLine line;
    ProgressTracker tracker({}, line.callbacks());
    download(entry.files, folder, [&](const Progress& progress) { tracker.note(progress); });
    tracker.end_phase();
    std::puts(folder.c_str());
  });
}

}  // namespace bet
