#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace bet {

// Philox4x32-10 (Salmon et al., SC'11): four random 32-bit words from a counter and a key. A pure
// function, so every draw can be computed independently, in any order and on any device.
constexpr std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

// The Philox key for a purpose under a seed: different purposes have unrelated draws.
std::array<std::uint32_t, 2> stream_key(std::uint64_t seed, std::string_view purpose);

// A named stream of random numbers. Seed, purpose and index determine every value, so one more draw
// in one place changes nothing elsewhere. Cheap to construct; one thread at a time.
class RandomStream {
 public:
  // `purpose` says what is drawn ("split", "plans", ...), `index` for which user, plan, ...
  RandomStream(std::uint64_t seed, std::string_view purpose, std::uint64_t index = 0)
      : key_(stream_key(seed, purpose)), index_(index) {}

  std::uint32_t next_u32() {
    if (used_ == 4) refill();
    return words_[used_++];
  }

  std::uint64_t next_u64() {
    const std::uint64_t low = next_u32();
    return low | (std::uint64_t{next_u32()} << 32);
  }

  // Uniform, strictly inside (0, 1), 53 random bits.
  double uniform() { return (static_cast<double>(next_u64() >> 11) + 0.5) * 0x1p-53; }

  // Normally distributed with mean 0 and variance 1 (the first value of the Box-Muller transform).
  double normal();

  // Uniform in [0, bound), without bias (Lemire's method). `bound` must be positive.
  std::uint32_t below(std::uint32_t bound) {
    std::uint64_t product = std::uint64_t{next_u32()} * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t threshold = -bound % bound;
      while (static_cast<std::uint32_t>(product) < threshold) {
        product = std::uint64_t{next_u32()} * bound;
      }
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

 private:
  void refill() {
    words_ =
        philox4x32({static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(block_ >> 32),
                    static_cast<std::uint32_t>(index_), static_cast<std::uint32_t>(index_ >> 32)},
                   key_);
    ++block_;
    used_ = 0;
  }

  std::array<std::uint32_t, 2> key_;
  std::uint64_t index_;
  std::uint64_t block_ = 0;
  std::array<std::uint32_t, 4> words_{};
  int used_ = 4;
};

}  // namespace bet
