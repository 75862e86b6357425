#include <cstdio>

#include "cli/commands.h"
#include "data/catalogue.h"

namespace bet {

void add_data_list(CLI::App& data) {
  CLI::App& command = *data.add_subcommand("list", "the data sets that `bet data get` knows");
  command.callback([] {
    std::printf("%-9s %s\n", "demo", "built in: about 2,000 users x 1,500 items, 60,000 pairs");
    for (const CatalogueEntry& entry : catalogue()) {
      std::printf("%-9s %s\n", entry.name.c_str(), entry.summary.c_str());
      std::printf("%-9s %s\n", "", entry.licence.c_str());
      for (const RemoteFile& file : entry.files) std::printf("%-9s %s\n", "", file.url.c_str());
    }
  });
}

}  // namespace bet
