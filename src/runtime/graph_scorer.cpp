#include "runtime/graph_propagation.h"

#include <algorithm>
#include <cmath>

namespace bet {
namespace {

void scale_by(const std::vector<float>& factors, std::vector<float>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= factors[i];
}

void add(const std::vector<float>& values, std::vector<float>& sum) {
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
}

// items <- A users
void to_items(const InteractionSection& interactions, const std::vector<float>& users,
              std::vector<float>& items_out) {
  const std::vector<float>& root = interactions.item_root();
  items_out.assign(root.size(), 0.0F);
  const auto give = [&](std::uint32_t user, std::span<const std::uint32_t> items) {
    if (items.empty()) return;
    const float given = users[user] / std::sqrt(static_cast<float>(items.size()));
    for (const std::uint32_t item : items) items_out[item] += given;
  };
  std::uint32_t only = 0;
  std::uint32_t nonzero = 0;
  for (std::uint32_t user = 0; user < users.size() && nonzero < 2; ++user) {
    if (users[user] != 0) {
      only = user;
      ++nonzero;
    }
  }
  if (nonzero == 1) {
    give(only, interactions.items_of(only));
  } else if (nonzero > 1) {
    interactions.for_each(give);
  }
  scale_by(root, items_out);
}

}  // namespace

// Users lead to items and items to users, so with weights on one side only, one pass over the
// lists goes two layers: from items to users and on.
void spread_weights(const InteractionSection& interactions, int layers, Scratch& scratch) {
  const std::vector<float>& root = interactions.item_root();
  std::vector<float>& now = scratch.other_items;  // the items' part of A^layer weights
  int layer = 0;
  const auto is_zero = [](float weight) { return weight == 0; };
  if (std::all_of(scratch.item_weights.begin(), scratch.item_weights.end(), is_zero)) {
    to_items(interactions, scratch.user_weights, now);
    scratch.item_weights = now;
    layer = 1;
  } else {
    now = scratch.item_weights;
  }
  for (; layer < layers; layer += 2) {
    const bool goes_on = layer + 1 < layers;
    scale_by(root, now);
    scratch.items.assign(root.size(), 0.0F);
    interactions.for_each([&](std::uint32_t user, std::span<const std::uint32_t> items) {
      if (items.empty()) return;
      float gathered = 0;
      for (const std::uint32_t item : items) gathered += now[item];
      const float user_root = 1.0F / std::sqrt(static_cast<float>(items.size()));
      scratch.user_weights[user] += gathered * user_root;
      if (!goes_on || gathered == 0) return;
      const float given = gathered * user_root * user_root;
      for (const std::uint32_t item : items) scratch.items[item] += given;
    });
    if (!goes_on) break;
    scale_by(root, scratch.items);
    std::swap(now, scratch.items);
    add(now, scratch.item_weights);
  }
  const float mean = 1.0F / static_cast<float>(layers + 1);
  for (float& weight : scratch.user_weights) weight *= mean;
  for (float& weight : scratch.item_weights) weight *= mean;
}

// By Horner's rule, and only the side that the next layer needs: users, items, users, .., items.
void gather_scores(const InteractionSection& interactions, int layers, Scratch& scratch) {
  const std::vector<float>& root = interactions.item_root();
  std::vector<float>& own = scratch.other_items;  // the items' own part
  own = scratch.scores;
  int layer = 0;
  if (layers % 2 != 0) {  // an odd way to the items begins with the users
    to_items(interactions, scratch.users, scratch.items);
    add(scratch.items, scratch.scores);
    layer = 1;
  }
  for (; layer < layers; layer += 2) {  // to the users and on to the items, in one pass
    scale_by(root, scratch.scores);
    scratch.items.assign(root.size(), 0.0F);
    interactions.for_each([&](std::uint32_t user, std::span<const std::uint32_t> items) {
      if (items.empty()) return;
      const float user_root = 1.0F / std::sqrt(static_cast<float>(items.size()));
      float gathered = 0;
      for (const std::uint32_t item : items) gathered += scratch.scores[item];
      const float given = (scratch.users[user] + gathered * user_root) * user_root;
      for (const std::uint32_t item : items) scratch.items[item] += given;
    });
    scale_by(root, scratch.items);
    for (std::size_t i = 0; i < own.size(); ++i) scratch.scores[i] = own[i] + scratch.items[i];
  }
  const float mean = 1.0F / static_cast<float>(layers + 1);
  for (float& score : scratch.scores) score *= mean;
}

}  // namespace bet
