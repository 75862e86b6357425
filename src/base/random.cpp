#include "base/random.h"

#include <cmath>
#include <numbers>

namespace bet {

std::array<std::uint32_t, 2> stream_key(std::uint64_t seed, std::string_view purpose) {
  // FNV-1a of the name, mixed with the seed by the finaliser of SplitMix64, so that consecutive
  // seeds give unrelated keys.
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : purpose) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  std::uint64_t mixed = hash + seed * 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
  mixed ^= mixed >> 31;
  return {static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32)};
}

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace bet
