#include "train/triple_sampler.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/random.h"

namespace bet {
namespace {

// floor(word / 2^32 * count): uniform up to count / 2^32.
std::uint32_t scaled(std::uint32_t word, std::uint64_t count) {
  return static_cast<std::uint32_t>((std::uint64_t{word} * count) >> 32);
}

std::uint32_t mixed(std::uint32_t x) {  // the finaliser of MurmurHash3
  x = (x ^ (x >> 16)) * 0x85ebca6bU;
  x = (x ^ (x >> 13)) * 0xc2b2ae35U;
  return x ^ (x >> 16);
}

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

std::uint32_t permuted(std::uint32_t place, std::uint32_t count,
                       const std::array<std::uint32_t, 4>& key) {
  const int bits = std::max(static_cast<int>(std::bit_width(count - 1)), 2);
  const int right_bits = bits / 2;
  const std::uint32_t right_mask = (std::uint32_t{1} << right_bits) - 1;
  const std::uint32_t left_mask = (std::uint32_t{1} << (bits - right_bits)) - 1;
  std::uint32_t value = place;
  do {
    std::uint32_t left = value >> right_bits;
    std::uint32_t right = value & right_mask;
    for (std::uint32_t round = 0; round < 4; ++round) {
      left = (left + mixed(right ^ key[round])) & left_mask;
      right = (right + mixed(left + key[round])) & right_mask;
    }
    value = left << right_bits | right;
  } while (value >= count);
  return value;
}

TripleSampler::TripleSampler(const Graph& graph, std::uint64_t seed)
    : graph_(graph),
      offsets_(graph.offsets.data_ptr<std::int64_t>()),
      columns_(graph.columns.data_ptr<std::int32_t>()),
      user_key_(stream_key(seed, "batch users")),
      item_key_(stream_key(seed, "batch items")) {
  for (std::uint32_t user = 0; user < graph.num_users; ++user) {
    if (offsets_[user + 1] > offsets_[user]) users_.push_back(user);
  }
  BET_CHECK(!users_.empty(), "no user has an interaction to train on");
}

bool TripleSampler::has_item(std::uint32_t user, std::uint32_t node) const {
  return std::binary_search(columns_ + offsets_[user], columns_ + offsets_[user + 1],
                            static_cast<std::int32_t>(node));
}

// A user that has every item has no negative; the positive takes its place and the triple is void.
void TripleSampler::draw_one(std::uint64_t step, std::size_t place, std::uint32_t user,
                             std::uint64_t positive, TripleBatch& batch) const {
  batch.users[place] = user;
  batch.positives[place] = static_cast<std::uint32_t>(columns_[offsets_[user] + positive]);
  batch.negatives[place] = batch.positives[place];
  if (offsets_[user + 1] - offsets_[user] == graph_.num_items) return;
  for (std::uint32_t attempt = 1;; ++attempt) {
    const auto words =
        philox4x32({static_cast<std::uint32_t>(place), attempt, low(step), high(step)}, item_key_);
    for (const std::uint32_t word : words) {
      const std::uint32_t node = graph_.num_users + scaled(word, graph_.num_items);
      if (!has_item(user, node)) {
        batch.negatives[place] = node;
        return;
      }
    }
  }
}

void TripleSampler::draw(std::uint64_t step, BatchKind kind, TripleBatch& batch) const {
  const auto num_edges = static_cast<std::uint64_t>(offsets_[graph_.num_users]);
  const auto num_users = static_cast<std::uint32_t>(users_.size());
  constexpr std::int64_t kGrain = 512;
  at::parallel_for(
      0, static_cast<std::int64_t>(batch.size()), kGrain,
      [&](std::int64_t begin, std::int64_t end) {
        for (auto place = static_cast<std::size_t>(begin); place < static_cast<std::size_t>(end);
             ++place) {
          const auto words =
              philox4x32({static_cast<std::uint32_t>(place), 0, low(step), high(step)}, item_key_);
          if (kind == BatchKind::kUsers) {
            // Each round over all users has its own permutation.
            const auto round = static_cast<std::uint32_t>(place / num_users);
            const auto key = philox4x32({round, 0, low(step), high(step)}, user_key_);
            const std::uint32_t user =
                users_[permuted(static_cast<std::uint32_t>(place % num_users), num_users, key)];
            const std::int64_t degree = offsets_[user + 1] - offsets_[user];
            draw_one(step, place, user, scaled(words[0], static_cast<std::uint64_t>(degree)),
                     batch);
          } else {
            __extension__ using Wide = unsigned __int128;
            const std::uint64_t word = std::uint64_t{words[1]} << 32 | words[0];
            const auto edge = static_cast<std::int64_t>((Wide{word} * num_edges) >> 64);
            const auto* found = std::upper_bound(offsets_, offsets_ + graph_.num_users, edge) - 1;
            const auto user = static_cast<std::uint32_t>(found - offsets_);
            draw_one(step, place, user, static_cast<std::uint64_t>(edge - *found), batch);
          }
        }
      });
}

}  // namespace bet
