#pragma once

#include <cstdint>

#include "kernels/dropout.h"

// Arguments of the kernels for what would otherwise be many passes over the rows of an NGCF layer.

namespace bet {

// What follows the matrix product of an NGCF layer, in one pass over its rows: h = drop(LeakyReLU(
// y)), and h over its length. Rows have `columns` floats, a multiple of 8.
struct ActivateArgs {
  static constexpr float kSlope = 0.2F;        // of LeakyReLU below zero
  static constexpr float kLeastNorm = 1e-12F;  // rows no longer than this become zero
  const float* in = nullptr;                   // y, by row
  float* hidden = nullptr;                     // out: h, by row; may be `in`
  float* inverse_norms = nullptr;              // out: by row, 1 / |h| or 0
  float* normalised = nullptr;                 // out: row r from r * normalised_stride
  std::uint32_t columns = 0;
  std::uint32_t normalised_stride = 0;
  Dropout drop;  // what is not dropped is divided by its share
};
// The backward pass: the gradient for y.
struct ActivateBackArgs {
  const float* hidden = nullptr;
  const float* inverse_norms = nullptr;
  const float* normalised_gradient = nullptr;  // row r from r * normalised_stride
  const float* hidden_gradient = nullptr;      // by row, or null
  float* out = nullptr;                        // by row
  std::uint32_t columns = 0;
  std::uint32_t normalised_stride = 0;
  Dropout drop;
};

// The backward pass through x = [s, e * s] with s = scale * (e + sum of neighbours), up to the
// neighbours: from the gradient of x those for s and, but for what comes from other rows, for e.
struct SplitArgs {
  const float* gradient = nullptr;  // for x, [row][2 * columns]
  const float* x = nullptr;         // [row][2 * columns]
  const float* e = nullptr;         // [row][columns]
  const float* scale = nullptr;     // by row
  const float* extra = nullptr;     // more gradient for e, or null:
  std::uint32_t extra_stride = 0;   // row r from r * extra_stride
  std::uint32_t columns = 0;        // a multiple of 8
  Dropout drop;                     // of e in s, as entry (row, row)
  float* s_gradient = nullptr;      // out, [row][columns]
  float* e_gradient = nullptr;      // out, [row][columns]
};

}  // namespace bet
