#include "train/side_by_side.h"

#include <algorithm>

namespace bet {

std::uint32_t most_columns_side_by_side(std::size_t num_rows, const at::Device& device) {
  constexpr std::size_t kColumns = 256;
  // Numbers in a table: 20 MB on a CPU, 134 MB on a GPU, beside a dozen arrays of this size.
  const std::size_t numbers = device.is_cpu() ? 5'000'000 : std::size_t{1} << 25;
  return static_cast<std::uint32_t>(
      std::clamp<std::size_t>(numbers / std::max<std::size_t>(1, num_rows), 1, kColumns));
}

}  // namespace bet
