#include "ranks/shared_tasks.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <thread>

#include "base/error.h"

namespace bet {
namespace {

// Ranks of a run have the same byte order: they have the same version and data (World::agree).
std::string packed(const SharedTasks::Result& result) {
  std::string text(result.size() * sizeof(double), '\0');
  if (!result.empty()) std::memcpy(text.data(), result.data(), text.size());
  return "=" + text;  // a key without a value would be one that is not set
}

SharedTasks::Result unpacked(const std::string& text) {
  BET_CHECK(text.size() % sizeof(double) == 1, "a result of ", text.size(), " bytes from a rank");
  SharedTasks::Result result(text.size() / sizeof(double));
  if (!result.empty()) std::memcpy(result.data(), text.data() + 1, text.size() - 1);
  return result;
}

std::string owner_key(const std::string& prefix, std::size_t task) {
  return str_cat(prefix, "owner/", task);
}
std::string result_key(const std::string& prefix, std::size_t task) {
  return str_cat(prefix, "result/", task);
}

}  // namespace

bool SharedTasks::run(const Batch& batch) {
  if (world_ != nullptr) return run_together(batch);
  for (std::size_t task = 0; task < batch.count; ++task) {
    const Result result = batch.work(task);
    if (result.empty()) return false;
    if (batch.heard) batch.heard(task, result);
    batch.done(task, result);
  }
  return true;
}

bool SharedTasks::run_together(const Batch& batch) {
  const std::string prefix = str_cat("batch/", batches_++, "/");
  std::vector<std::string> owners(batch.count);  // as last seen; empty: nobody
  std::vector<std::size_t> order(batch.count);
  std::iota(order.begin(), order.end(), 0);
  if (!batch.costs.empty()) {
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::size_t task) { return batch.costs.at(task); });
  }
  std::vector<std::optional<Result>> results(batch.count);
  const auto hear = [&](std::size_t task) {
    if (results[task] || !world_->has(result_key(prefix, task))) return;
    results[task] = unpacked(world_->wait_for(result_key(prefix, task), world_->rank()));
    if (batch.heard) batch.heard(task, *results[task]);
  };
  for (std::size_t first = 0; first < batch.count;) {
    hear(first);
    // Who does not want to know early does not ask for those behind it.
    for (std::size_t task = first + 1; batch.heard && task < batch.count; ++task) {
      if (!owners[task].empty()) hear(task);
    }
    if (results[first]) {
      batch.done(first, *results[first]);
      ++first;
      continue;
    }
    tell_losses();
    if (world_->asked_to_stop()) return false;
    const std::size_t task = take(prefix, order, owners);
    if (task < batch.count) {
      const Result result = batch.work(task);
      if (!result.empty()) {
        // The first result counts: a rank that was given up may be back.
        world_->exchange(result_key(prefix, task), "", packed(result));
        continue;
      }
    }
    if (task < batch.count || (batch.stop && batch.stop())) {
      world_->ask_to_stop();
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

void SharedTasks::tell_losses() {
  for (const std::string& sentence : world_->losses()) {
    if (message_) message_(sentence + "; other ranks do what it was doing");
  }
}

std::size_t SharedTasks::take(const std::string& prefix, std::span<const std::size_t> order,
                              std::vector<std::string>& owners) {
  const std::string own = std::to_string(world_->rank());
  for (const std::size_t task : order) {
    std::string& owner = owners[task];
    if (!owner.empty()) {
      const auto rank = static_cast<std::uint32_t>(std::stoul(owner));
      if (rank == world_->rank() || !world_->is_lost(rank)) continue;
      if (world_->has(result_key(prefix, task))) continue;
    }
    owner = world_->exchange(owner_key(prefix, task), owner, own);
    if (owner == own) return task;
  }
  return owners.size();
}

SharedTasks::Result SharedTasks::from_first_rank(const Result& own) {
  if (world_ == nullptr) return own;
  const std::string key = str_cat("batch/", batches_++, "/all");
  if (world_->rank() == 0) {
    world_->set(key, packed(own));
    return own;
  }
  return unpacked(world_->wait_for(key, 0));
}

}  // namespace bet
