#pragma once

#include <cstdint>
#include <span>

#include "runtime/bytes.h"
#include "runtime/half.h"

namespace bet {

// The length of every item's vector. A view: the bytes must outlive it.
class NormSection {
 public:
  NormSection() = default;
  // Throws unless every rule of docs/format.md holds.
  NormSection(Bytes bytes, std::uint32_t num_items) : bytes_(bytes) {
    BET_CHECK(bytes.size() == 2 * std::uint64_t{num_items}, "item norms: ", bytes.size(),
              " bytes for ", num_items, " items");
    for (std::uint32_t item = 0; item < num_items; ++item) {
      BET_CHECK((stored(item) & 0xfc00U) < 0x7c00U, "item norms: the norm of item row ", item,
                " is not a finite number of at least 0");
    }
  }

  float of(std::uint32_t item) const { return half_to_float(stored(item)); }

  // Turns the dot products of a vector of this length with all items' vectors into cosines.
  void to_cosines(float length, std::span<float> dots) const {
    for (std::uint32_t item = 0; item < dots.size(); ++item) {
      const float lengths = length * of(item);
      dots[item] = lengths > 0 ? dots[item] / lengths : 0.0F;
    }
  }

 private:
  std::uint16_t stored(std::uint32_t item) const {
    return load<std::uint16_t>(bytes_.data() + 2 * std::size_t{item});
  }

  Bytes bytes_;
};

}  // namespace bet
