#include <cstdio>
#include <memory>
#include <string>

#include "base/error.h"
#include "serve/commands.h"
#include "serve/model_path.h"
#include "serve/page_folder.h"

namespace bet {

void add_page(CLI::App& app) {
  CLI::App& command = *app.add_subcommand(
      "page", "write a folder with a page that recommends in the browser, without a server");
  const auto folder = std::make_shared<PageFolder>();  // owned by the parser's callback
  command.add_option("MODEL", folder->model, kModelHelp)->required();
  command.add_option("--out", folder->out, "the folder to write")->required();
  command.add_option("--titles", folder->titles,
                     "titles of items to show beside their ids: CSV or TSV with columns id and "
                     "title");
  command.add_option("--runtime", folder->runtime,
                     "the folder of the npm package bet-runtime, unpacked; without it the one that "
                     "was installed with bet-serve");
  command.callback([folder] {
    if (folder->runtime.empty()) folder->runtime = find_page_runtime();
    BET_CHECK(!folder->runtime.empty(),
              "the runtime for browsers is not installed: name the folder of the npm package "
              "bet-runtime by --runtime");
    folder->model = model_path(folder->model);
    write_page_folder(*folder);
    std::printf("%s/index.html\n", folder->out.c_str());
  });
}

}  // namespace bet
