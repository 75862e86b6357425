#include "train/evaluator.h"

#include <ATen/ops/from_blob.h>

#include "model/executor.h"

namespace bet {
namespace {

template <typename T>
at::Tensor on_device(const std::vector<T>& values, at::ScalarType type, const at::Device& device) {
  return at::from_blob(const_cast<T*>(values.data()), {static_cast<std::int64_t>(values.size())},
                       at::TensorOptions(type))
      .to(device);
}

}  // namespace

Evaluator::Evaluator(const Split& split, HeldOut held_out, const Graph& seen) : seen_(seen) {
  held_.offsets.push_back(0);
  for (UserId user = 0; user < split.num_users(); ++user) {
    const auto items = held_out == HeldOut::kValidation ? split.validation(user) : split.test(user);
    if (items.empty()) continue;
    held_.users.push_back(user);
    held_.items.insert(held_.items.end(), items.begin(), items.end());
    held_.offsets.push_back(held_.items.size());
  }
  if (seen.device().is_cpu()) return;
  held_.device_users = on_device(held_.users, at::kInt, seen.device());
  held_.device_offsets = on_device(held_.offsets, at::kLong, seen.device());
  held_.device_items = on_device(held_.items, at::kInt, seen.device());
}

std::vector<UserHits> Evaluator::user_hits(const at::Tensor& vectors,
                                           const Scoring& scoring) const {
  const std::vector<std::uint32_t> hits =
      executor_for(vectors.device()).top_hits(vectors, scoring, held_, seen_, kCutoffs.back());
  std::vector<UserHits> users;
  users.reserve(hits.size());
  for (std::size_t i = 0; i < hits.size(); ++i) {
    users.push_back({hits[i], static_cast<std::uint32_t>(held_.offsets[i + 1] - held_.offsets[i])});
  }
  return users;
}

std::vector<Metrics> Evaluator::user_measures(const at::Tensor& vectors,
                                              const Scoring& scoring) const {
  std::vector<Metrics> measures;
  for (const UserHits& user : user_hits(vectors, scoring)) {
    measures.push_back(user_metrics(user.hits, user.held_out));
  }
  return measures;
}

// Users are in one order, so that sums do not depend on threads.
Metrics Evaluator::measure(const at::Tensor& vectors, const Scoring& scoring) const {
  return mean_of(user_measures(vectors, scoring));
}

std::vector<double> Evaluator::user_scores(const at::Tensor& vectors,
                                           const Scoring& scoring) const {
  std::vector<double> scores;
  for (const Metrics& one : user_measures(vectors, scoring)) scores.push_back(one.score());
  return scores;
}

}  // namespace bet
