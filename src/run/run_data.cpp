#include "run/run_data.h"

#include <utility>

#include "run/model_file.h"

namespace bet {

RunData load_run_data(const DataOptions& options) { return make_run_data(options.load(), options); }

RunData make_run_data(Dataset dataset, const DataOptions& options) {
  RunData data;
  data.dataset = std::move(dataset);
  check_file_limits(data.dataset);
  data.about = {.name = data.dataset.name,
                .users = data.dataset.num_users(),
                .items = data.dataset.num_items(),
                .interactions = data.dataset.num_interactions(),
                .hash = data.dataset.hash(),
                .text_ids = data.dataset.text_ids,
                .split = options.split,
                .split_seed = options.split_seed,
                .parts = {}};
  data.split = options.split_of(data.dataset);
  data.about.parts = data.split.counts();
  return data;
}

}  // namespace bet
