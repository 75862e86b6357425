#pragma once

namespace bet {

// The type of the rows that a graph backbone passes from layer to layer.
enum class RowPrecision { kFloat32, kBfloat16 };

}  // namespace bet
