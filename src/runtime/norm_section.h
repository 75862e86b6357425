#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include "base/half.h"
#include "base/score_kind.h"
#include "runtime/bytes.h"

namespace bet {

// The length of every item's vector: f16, or f32 where scores are divided by them. A view: the
// bytes must outlive it.
class NormSection {
 public:
  NormSection() = default;
  // Throws unless every rule of docs/format.md holds.
  NormSection(Bytes bytes, std::uint32_t num_items, ScoreKind score)
      : bytes_(bytes), wide_(score == ScoreKind::kCosine) {
    const std::uint64_t expected = (wide_ ? 4 : 2) * std::uint64_t{num_items};
    BET_CHECK(bytes.size() == expected, "item norms: ", bytes.size(), " bytes for ", num_items,
              " items");
    for (std::uint32_t item = 0; item < num_items; ++item) {
      const float norm = of(item);
      BET_CHECK(std::isfinite(norm) && !std::signbit(norm), "item norms: the norm of item row ",
                item, " is not a finite number of at least 0");
    }
  }

  float of(std::uint32_t item) const {
    if (wide_) return load<float>(bytes_.data() + 4 * std::size_t{item});
    return half_to_float(load<std::uint16_t>(bytes_.data() + 2 * std::size_t{item}));
  }

  // Turns the dot products of a vector of this length with all items' vectors into cosines.
  void to_cosines(float length, std::span<float> dots) const {
    for (std::uint32_t item = 0; item < dots.size(); ++item) {
      dots[item] = cosine(dots[item], length, of(item));
    }
  }

  // The same where dots[i] is that of item rows[i].
  void to_cosines(float length, std::span<const std::uint32_t> rows, std::span<float> dots) const {
    for (std::size_t i = 0; i < rows.size(); ++i) dots[i] = cosine(dots[i], length, of(rows[i]));
  }

  // The cosine of two vectors from their dot product and lengths; 0 where one is zero.
  static float cosine(float dot, float length, float other) {
    const float lengths = length * other;
    return lengths > 0 ? dot / lengths : 0.0F;
  }

 private:
  Bytes bytes_;
  bool wide_ = false;
};

// By row.
inline std::string encode_norms(std::span<const float> norms, ScoreKind score) {
  std::string bytes;
  for (const float norm : norms) {
    if (score == ScoreKind::kCosine) {
      append(bytes, norm);
    } else {
      append(bytes, float_to_half(std::min(norm, 65'504.0F)));
    }
  }
  return bytes;
}

}  // namespace bet
