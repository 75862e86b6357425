#pragma once

#include <cstdint>
#include <vector>

namespace bet {

// What one request needs; kept for the next.
struct Scratch {
  // Of every row in the vector that is asked for. Only one side has some before they are spread.
  std::vector<float> user_weights, item_weights;
  std::vector<float> users, items, other_items, scores;
  std::vector<float> query;
  std::vector<float> row, hidden;  // of the user of an ncf request

  void reset_weights(std::uint32_t num_users, std::uint32_t num_items) {
    user_weights.assign(num_users, 0.0F);
    item_weights.assign(num_items, 0.0F);
  }
};

}  // namespace bet
