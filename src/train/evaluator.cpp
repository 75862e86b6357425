#include "train/evaluator.h"

#include <ATen/Parallel.h>

#include "model/executor.h"

namespace bet {

Metrics evaluate(const at::Tensor& vectors, const ModelColumns& columns, const Split& split,
                 HeldOut held_out, const Graph& seen) {
  const auto held_out_of = [&](UserId user) {
    return held_out == HeldOut::kValidation ? split.validation(user) : split.test(user);
  };
  std::vector<UserId> users;
  for (UserId user = 0; user < split.num_users(); ++user) {
    if (!held_out_of(user).empty()) users.push_back(user);
  }
  constexpr std::uint32_t kTop = kCutoffs.back();
  const std::vector<ItemId> ranked =
      executor_for(vectors.device()).top_items(vectors, columns, users, seen, kTop);
  std::vector<Metrics> each(users.size());
  constexpr std::int64_t kGrain = 1024;
  at::parallel_for(0, static_cast<std::int64_t>(users.size()), kGrain,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (auto i = static_cast<std::size_t>(begin);
                          i < static_cast<std::size_t>(end); ++i) {
                       std::span<const ItemId> top(ranked.data() + i * kTop, kTop);
                       while (!top.empty() && top.back() == ~ItemId{0}) {
                         top = top.first(top.size() - 1);
                       }
                       each[i] = user_metrics(top, held_out_of(users[i]));
                     }
                   });
  Metrics mean;
  for (const Metrics& one : each) {  // in one order: sums do not depend on threads
    for (std::size_t c = 0; c < kCutoffs.size(); ++c) {
      mean.recall[c] += one.recall[c];
      mean.ndcg[c] += one.ndcg[c];
    }
  }
  mean.num_users = users.size();
  for (std::size_t c = 0; c < kCutoffs.size() && !users.empty(); ++c) {
    mean.recall[c] /= static_cast<double>(users.size());
    mean.ndcg[c] /= static_cast<double>(users.size());
  }
  return mean;
}

}  // namespace bet
