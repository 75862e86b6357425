#include "model/triple_batch.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace bet {

void TripleBatch::resize(std::size_t size) {
  users.resize(size);
  positives.resize(size);
  negatives.resize(size);
}

void BatchEntries::build(const TripleBatch& batch, std::uint32_t num_rows) {
  row_count.assign(num_rows, 0);
  offsets.assign(num_rows + 1, 0);
  columns.assign(4 * batch.size() + kColumnSlack, 0);
  triples.resize(4 * batch.size());
  for (std::size_t t = 0; t < batch.size(); ++t) {
    ++row_count[batch.users[t]];
    ++row_count[batch.positives[t]];
    ++row_count[batch.negatives[t]];
    offsets[batch.users[t] + 1] += 2;
    ++offsets[batch.positives[t] + 1];
    ++offsets[batch.negatives[t] + 1];
  }
  for (std::uint32_t row = 0; row < num_rows; ++row) offsets[row + 1] += offsets[row];
  // offsets[r] moves to the end of row r while it is filled, which is the beginning of r + 1.
  const auto put = [&](std::uint32_t row, std::uint32_t column, std::size_t triple) {
    const std::uint64_t place = offsets[row]++;
    columns[place] = column;
    triples[place] = static_cast<std::uint32_t>(triple);
  };
  for (std::size_t t = 0; t < batch.size(); ++t) {
    put(batch.users[t], batch.positives[t], 2 * t);
    put(batch.users[t], batch.negatives[t], 2 * t + 1);
    put(batch.positives[t], batch.users[t], 2 * t);
    put(batch.negatives[t], batch.users[t], 2 * t + 1);
  }
  std::copy_backward(offsets.begin(), offsets.end() - 1, offsets.end());
  offsets[0] = 0;
}

}  // namespace bet
