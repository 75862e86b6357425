#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ranks/world.h"

namespace bet {

// Tasks that the ranks of a run divide among them. All ranks run the same batches in the same order
// and hear of all results, in the order of the tasks: whoever did one, all continue with the same
// numbers. A rank takes a task when it has none; those of a lost rank are done by others. Without a
// world one process does them all.
class SharedTasks {
 public:
  // The world may be null; it outlives this. `message`: told when a rank is lost; may be empty.
  explicit SharedTasks(World* world, std::function<void(const std::string&)> message = {})
      : world_(world), message_(std::move(message)) {}

  std::uint32_t num_ranks() const { return world_ != nullptr ? world_->size() : 1; }
  bool is_first_rank() const { return world_ == nullptr || world_->rank() == 0; }

  using Result = std::vector<double>;
  struct Batch {
    std::size_t count = 0;
    std::vector<double> costs = {};  // of each: the dearest is taken first; if empty, the first
    std::function<Result(std::size_t task)> work;  // an empty result: it was stopped
    // Told of each task as soon as this rank hears of its result, in any order; may be empty.
    std::function<void(std::size_t task, const Result& result)> heard = {};
    std::function<void(std::size_t task, const Result& result)> done;  // in the order of tasks
    std::function<bool()> stop;  // asked while this rank waits; may be empty
  };
  // False if it was stopped, here or by another rank, before all was done.
  bool run(const Batch& batch);

  // What rank 0 has; ranks call it in the same order as everything else.
  Result from_first_rank(const Result& own);

 private:
  bool run_together(const Batch& batch);
  // A task that this rank is to do now, in the order of preference; the number of tasks if there is
  // none.
  std::size_t take(const std::string& prefix, std::span<const std::size_t> order,
                   std::vector<std::string>& owners);

  void tell_losses();

  World* world_;
  std::function<void(const std::string&)> message_;
  std::uint64_t batches_ = 0;
};

}  // namespace bet
