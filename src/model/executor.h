#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/batch_draw.h"
#include "kernels/kernels.h"
#include "model/batch.h"
#include "model/graph.h"
#include "model/held_out_items.h"
#include "model/kernel_args.h"
#include "model/scoring.h"

namespace bet {

// Runs the kernels on one device. Callers prepare arguments with pointers into tensors of that
// device, and are the same for every device. On the GPU calls return before they are done and run
// in order on one stream. Results never depend on the number of threads.
class Executor {
 public:
  virtual ~Executor() = default;

  virtual void gather_rows(const GatherArgs& args, std::size_t num_rows) = 0;
  virtual void run_rows(const RowKernel& kernel, std::size_t num_rows) = 0;
  virtual void run_terms(const TermsKernel& kernel) = 0;
  virtual void draw_batch(const DrawArgs& args) = 0;
  virtual void group_slots(Batch& batch) = 0;
  // *out = the mean of `count` floats, summed in a fixed order.
  virtual void mean(const float* values, std::size_t count, float* out) = 0;
  // One step of Adam, which is then added to *record with the loss *loss + squares_scale * (sum
  // over rows of slots * |row|^2).
  virtual void adam_and_record(const AdamArgs& args, std::size_t num_rows, const float* loss,
                               double squares_scale, StepRecord* record) = 0;

  // The best k items for each of `users` by the scores of their rows in `vectors`: best first, ties
  // by item, without those of `seen`. [users][k], ~0 where there are fewer than k items.
  virtual std::vector<ItemId> top_items(const at::Tensor& vectors, const Scoring& scoring,
                                        std::span<const UserId> users, const Graph& seen,
                                        std::uint32_t k) = 0;

  // Which of the best k <= 32 items, as returned by top_items, are held out: by user, bit p stands
  // for the item at position p.
  virtual std::vector<std::uint32_t> top_hits(const at::Tensor& vectors, const Scoring& scoring,
                                              const HeldOutItems& held, const Graph& seen,
                                              std::uint32_t k) = 0;

  // Runs `work` concurrently with the calls made until join(); neither may depend on the other.
  virtual void run_concurrently(const std::function<void()>& work) = 0;
  virtual void join() = 0;

  // Runs the same work repeatedly with little overhead: on the GPU it is recorded once and
  // replayed. `work` must always be the same and must not read results back.
  class Loop {
   public:
    virtual ~Loop() = default;
    virtual void run(const std::function<void()>& work) = 0;
  };
  virtual std::unique_ptr<Loop> make_loop() = 0;

  // Returns when all calls made so far are done.
  virtual void wait() = 0;

  // For reports: "cpu", or the name of the GPU.
  virtual std::string name() const = 0;
  // Memory that can still be allocated, in bytes, with what is held for reuse, which a GPU releases
  // first.
  virtual std::uint64_t free_bytes() const = 0;
};

// Results of this many bytes are evicted from a last-level cache before they are read. Writing them
// past the cache leaves it to the rows that are gathered (GatherArgs::past_cache).
constexpr std::int64_t kLargeTable = std::int64_t{24} << 20;

// Throws, saying what is missing, if this build or machine has no such device.
Executor& executor_for(const at::Device& device);

// "cpu" or "cuda"; throws as executor_for does.
at::Device find_device(std::string_view name);

}  // namespace bet
