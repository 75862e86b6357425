#include "model/pair_scores.h"

#include <ATen/TensorOperators.h>

namespace bet {

at::Tensor pair_scores(const at::Tensor& vectors, const Scoring& scoring, const at::Tensor& users,
                       const at::Tensor& items) {
  const at::Tensor of_users = vectors.index_select(0, users);
  const at::Tensor of_items = vectors.index_select(0, items);
  const auto columns = [](const at::Tensor& rows, std::uint32_t first, std::uint32_t count) {
    return rows.narrow(1, first, count);
  };
  const std::uint32_t first = scoring.columns.first;
  const std::uint32_t width = scoring.columns.width;
  at::Tensor scores = (columns(of_users, first, width) * columns(of_items, first, width)).sum(1);
  const auto hidden = [&](std::uint32_t begin, std::uint32_t count) {
    return (columns(of_users, begin, count) + columns(of_items, begin, count)).clamp_min(0).sum(1);
  };
  if (scoring.num_positive > 0) {
    scores += hidden(scoring.first_hidden, scoring.num_positive);
  }
  if (scoring.num_negative > 0) {
    scores -= hidden(scoring.first_hidden + scoring.num_positive, scoring.num_negative);
  }
  return scores;
}

}  // namespace bet
