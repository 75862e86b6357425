#include <cstdio>
#include <memory>
#include <string>

#include "base/with_commas.h"
#include "cli/commands.h"
#include "data/synthetic.h"

namespace bet {
namespace {

struct SynthCommand {
  std::string out;
  SyntheticOptions synthetic;
};

}  // namespace

void add_data_synth(CLI::App& data) {
  CLI::App& command =
      *data.add_subcommand("synth", "write a made-up data set; the defaults are `demo`");
  const auto options = std::make_shared<SynthCommand>();  // owned by the parser's callback
  SyntheticOptions& synthetic = options->synthetic;
  command.add_option("OUT", options->out, "a .csv, .tsv or .inter file; - for standard output")
      ->required();
  command.add_option("--users", synthetic.num_users, "users")->capture_default_str();
  command.add_option("--items", synthetic.num_items, "items")->capture_default_str();
  command.add_option("--interactions", synthetic.num_interactions, "distinct user-item pairs")
      ->capture_default_str();
  command.add_option("--clusters", synthetic.num_clusters, "latent clusters of items")
      ->capture_default_str();
  command.add_option("--seed", synthetic.seed, "seed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.callback([options] {
    const Dataset dataset = synthetic_dataset(options->synthetic);
    write_interactions(dataset, options->out);
    std::fprintf(stderr, "wrote %s: %s users, %s items, %s interactions\n", options->out.c_str(),
                 with_commas(dataset.num_users()).c_str(), with_commas(dataset.num_items()).c_str(),
                 with_commas(dataset.num_interactions()).c_str());
  });
}

}  // namespace bet
