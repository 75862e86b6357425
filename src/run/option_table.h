#pragma once

#include <string>
#include <vector>

#include "base/option.h"
#include "run/config.h"
#include "run/fit_options.h"

namespace bet {

// The one table of the options of a run: the parser of the command line, its help, config.toml, the
// run's identity, the key of the cache and the facts in a model file are made from it. Its order is
// that of config.toml.
const std::vector<Option<FitOptions>>& fit_option_table();

// Every option as resolved that is set, to be kept with a run and to start it again.
Config to_config(const FitOptions& options);

// Those of them that decide the result; not those that stand at what was done before there was the
// option, so that runs and files of earlier versions and of this one agree.
Config deciding_options(const FitOptions& options);

// The options with those that these entries set. Throws, naming the entry, on an unknown one or a
// value that it cannot have.
FitOptions options_from(const Config& entries, FitOptions options = {});

// The options of a run or a model file, also of versions that did not have all of them.
FitOptions stored_options(const Config& entries);

}  // namespace bet
