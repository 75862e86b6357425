#pragma once

#include <array>
#include <cstdint>

#include "base/random.h"
#include "kernels/dropout.h"
#include "kernels/kernels.h"

// How the rows of a batch are drawn: pure functions of seed, step and slot (Philox), compiled for
// the CPU and for the GPU, so that every device and any number of threads draws the same batches.

namespace bet {

// How the users of a batch are chosen.
enum class BatchKind : std::uint8_t {
  kUsers,         // distinct users, uniformly; repeated where there are fewer users than entries
  kInteractions,  // the users of uniformly drawn interactions
};

struct DrawArgs {
  // The graph: user u is node u, item v is node num_users + v; neighbours ascending.
  const std::uint64_t* offsets = nullptr;
  const std::uint32_t* columns = nullptr;
  std::uint32_t num_users = 0;
  std::uint32_t num_items = 0;
  const std::uint32_t* active_users = nullptr;  // those with items
  std::uint32_t num_active = 0;

  std::array<std::uint32_t, 2> user_key{};
  std::array<std::uint32_t, 2> item_key{};
  BatchKind kind = BatchKind::kUsers;
  std::uint32_t size = 0;
  std::uint32_t pool = 1;              // as in LossArgs
  const StepRecord* record = nullptr;  // whose `steps` are done
  std::uint32_t* rows = nullptr;       // out: by slot, as in LossArgs
  std::uint32_t* seen_mask = nullptr;  // out: as in LossArgs, for pools
};

namespace draw {

// floor(word / 2^32 * count): uniform up to count / 2^32.
BET_HOST_DEVICE inline std::uint32_t scaled(std::uint32_t word, std::uint64_t count) {
  return static_cast<std::uint32_t>((std::uint64_t{word} * count) >> 32);
}

// floor(word / 2^64 * count).
BET_HOST_DEVICE inline std::uint64_t scaled_wide(std::uint64_t word, std::uint64_t count) {
#ifdef __CUDA_ARCH__
  return __umul64hi(word, count);
#else
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{word} * count) >> 64);
#endif
}

BET_HOST_DEVICE inline std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
BET_HOST_DEVICE inline std::uint32_t high(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32);
}

// A pseudo-random permutation of 0 .. count-1: a Feistel network that walks its cycle until the
// value is below count. Distinct indices give distinct values, without a table or an order.
BET_HOST_DEVICE inline std::uint32_t permuted(std::uint32_t index, std::uint32_t count,
                                              const std::array<std::uint32_t, 4>& key) {
  int bits = 2;
  while (bits < 32 && (std::uint64_t{count} - 1) >> bits != 0) ++bits;
  const int right_bits = bits / 2;
  const std::uint32_t right_mask = (std::uint32_t{1} << right_bits) - 1;
  const std::uint32_t left_mask = (std::uint32_t{1} << (bits - right_bits)) - 1;
  std::uint32_t value = index;
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

// Whether `node` is among the neighbours of `user`.
BET_HOST_DEVICE inline bool has_item(const DrawArgs& args, std::uint32_t user, std::uint32_t node) {
  std::uint64_t first = args.offsets[user];
  std::uint64_t last = args.offsets[user + 1];
  while (first < last) {
    const std::uint64_t middle = first + (last - first) / 2;
    const std::uint32_t found = args.columns[middle];
    if (found == node) return true;
    if (found < node) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return false;
}

// An item that `user` has not. A user that has every item has no negative: the positive stands
// in its slot, and the pair contributes nothing.
BET_HOST_DEVICE inline std::uint32_t own_negative(const DrawArgs& args, std::uint64_t step,
                                                  std::uint32_t entry, std::uint32_t user,
                                                  std::uint32_t positive) {
  if (args.offsets[user + 1] - args.offsets[user] == args.num_items) return positive;
  for (std::uint32_t attempt = 1;; ++attempt) {
    const auto words = philox4x32({entry, attempt, low(step), high(step)}, args.item_key);
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t node = args.num_users + scaled(words[i], args.num_items);
      if (!has_item(args, user, node)) return node;
    }
  }
}

// Writes user and positive of an entry, and its negative if it has one of its own.
BET_HOST_DEVICE inline void entry(const DrawArgs& args, std::uint64_t step, std::uint32_t index) {
  const auto words = philox4x32({index, 0, low(step), high(step)}, args.item_key);
  std::uint32_t user = 0;
  std::uint64_t item = 0;
  if (args.kind == BatchKind::kUsers) {
    // Each round over all users has its own permutation, and takes its positives from its own part
    // of a user's items.
    const std::uint32_t round = index / args.num_active;
    const std::uint32_t rounds = (args.size + args.num_active - 1) / args.num_active;
    const auto key = philox4x32({round, 0, low(step), high(step)}, args.user_key);
    user = args.active_users[permuted(index % args.num_active, args.num_active, key)];
    const std::uint64_t word = (std::uint64_t{round} << 32 | words[0]) / rounds;
    item = scaled(static_cast<std::uint32_t>(word), args.offsets[user + 1] - args.offsets[user]);
  } else {
    const std::uint64_t edge =
        scaled_wide(std::uint64_t{words[1]} << 32 | words[0], args.offsets[args.num_users]);
    std::uint32_t above = args.num_users;  // the first user whose items begin behind it
    while (user + 1 < above) {
      const std::uint32_t middle = user + (above - user) / 2;
      if (args.offsets[middle] <= edge) {
        user = middle;
      } else {
        above = middle;
      }
    }
    item = edge - args.offsets[user];
  }
  const std::uint32_t positive = args.columns[args.offsets[user] + item];
  args.rows[index] = user;
  args.rows[args.size + index] = positive;
  if (args.pool == 1) {
    args.rows[2 * args.size + index] = own_negative(args, step, index, user, positive);
  }
}

// The item at a slot of the pools, drawn from all items.
BET_HOST_DEVICE inline std::uint32_t pool_item(const DrawArgs& args, std::uint64_t step,
                                               std::uint32_t slot) {
  const auto words = philox4x32({slot / 4, 0xffffffffU, low(step), high(step)}, args.item_key);
  return args.num_users + scaled(words[slot % 4], args.num_items);
}

}  // namespace draw
}  // namespace bet
