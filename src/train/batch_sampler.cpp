#include "train/batch_sampler.h"

#include "base/error.h"
#include "model/executor.h"
#include "model/tensor_pointers.h"

namespace bet {

BatchSampler::BatchSampler(const Graph& graph, std::uint64_t seed)
    : graph_(graph),
      user_key_(stream_key(seed, "batch users")),
      item_key_(stream_key(seed, "batch items")) {
  BET_CHECK(num_users() > 0, "no user has an interaction to train on");
}

std::uint32_t BatchSampler::num_users() const {
  return static_cast<std::uint32_t>(graph_.active_users.size(0));
}

void BatchSampler::draw(const StepRecord* record, BatchKind kind, Batch& batch) const {
  DrawArgs args;
  args.offsets = u64_data(graph_.offsets);
  args.columns = u32_data(graph_.columns);
  args.num_users = graph_.num_users;
  args.num_items = graph_.num_items;
  args.active_users = u32_data(graph_.active_users);
  args.num_active = num_users();
  args.user_key = user_key_;
  args.item_key = item_key_;
  args.kind = kind;
  args.size = batch.size();
  args.pool = batch.pool();
  args.record = record;
  args.rows = u32_data(batch.rows);
  args.seen_mask = u32_data(batch.seen_mask);
  executor_for(batch.rows.device()).draw_batch(args);
  batch.group();
}

}  // namespace bet
