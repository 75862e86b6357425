#pragma once

#include <cstdint>

#include "base/host_device.h"

// Which entries are dropped in a step of training: a pure function of seed, step, purpose, row and
// column, so that the backward pass, another device or another number of threads drops the same,
// and nothing has to be stored. No C++ library beyond <cstdint>: the kernels of every instruction
// set include it, and `static` keeps their copies apart.

namespace bet {

struct StepRecord;

struct Dropout {
  std::uint32_t threshold = 0;  // share that is dropped, times 2^32; 0: nothing is
  std::uint32_t key[2] = {};    // of the seed
  std::uint32_t purpose = 0;    // of a layer or the edges: different purposes drop independently
  const StepRecord* record = nullptr;  // whose `steps` are done
};

BET_HOST_DEVICE static inline std::uint32_t mixed(std::uint32_t x) {  // MurmurHash3's finaliser
  x = (x ^ (x >> 16)) * 0x85ebca6bU;
  x = (x ^ (x >> 13)) * 0xc2b2ae35U;
  return x ^ (x >> 16);
}

constexpr std::uint32_t kDropColumn = 0x9e3779b9U;

// What a row and a column are mixed with; `steps` are those of the record.
BET_HOST_DEVICE static inline std::uint32_t drop_key(const Dropout& drop, std::uint64_t steps) {
  const auto low = static_cast<std::uint32_t>(steps);
  const auto high = static_cast<std::uint32_t>(steps >> 32);
  return mixed(mixed(mixed(drop.key[0] ^ drop.purpose) + low) ^ high ^ drop.key[1]);
}
BET_HOST_DEVICE static inline std::uint32_t drop_row(std::uint32_t key, std::uint32_t row) {
  return mixed(row + key);
}
// `row_word` is drop_row() of the entry's row.
BET_HOST_DEVICE static inline bool is_dropped(const Dropout& drop, std::uint32_t row_word,
                                              std::uint32_t column) {
  return mixed(row_word ^ (column * kDropColumn)) < drop.threshold;
}

}  // namespace bet
