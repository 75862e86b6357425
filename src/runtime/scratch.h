#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace bet {

// The memory that one request needs; it is reused by later requests.
struct Scratch {
  // The weight of every row in the sum of rows that is asked for.
  std::vector<float> user_weights, item_weights;
  std::vector<float> users, items, other_items;  // values by row, for the propagation
  std::vector<float> query;                      // the vector that items are scored against
  std::vector<float> row, hidden;                // ncf: the user's stored row and hidden units
  std::vector<float> scores;                     // by item row
};

// Lends a Scratch to each request. Any thread may call it.
class ScratchPool {
 public:
  // request(scratch), with a scratch that no other request has meanwhile.
  template <typename Request>
  auto with_scratch(const Request& request) {
    std::unique_ptr<Scratch> scratch = take();
    auto result = request(*scratch);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
    return result;
  }

 private:
  std::unique_ptr<Scratch> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Scratch>();
    std::unique_ptr<Scratch> scratch = std::move(free_.back());
    free_.pop_back();
    return scratch;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> free_;
};

}  // namespace bet
