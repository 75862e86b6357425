#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/neumf_case.h"

namespace bet {
namespace {

using test::NeuMfCase;
using test::NeuMfTerms;

// Scores of rows that stand at slots, by LibTorch's operators in double.
torch::Tensor scores(const NeuMfCase& batch, const torch::Tensor& users, const torch::Tensor& items,
                     const torch::Tensor& head) {
  const std::int64_t products = batch.num_products;
  const std::int64_t columns = products + batch.num_hidden;
  const torch::Tensor dot = users.slice(-1, 0, products) * items.slice(-1, 0, products);
  const torch::Tensor on =
      torch::relu(users.slice(-1, products, columns) + items.slice(-1, products, columns));
  return (torch::cat({dot, on}, -1) * head).sum(-1);
}

// Against autograd, through all pairs.
TEST(NeuMfTerms, EqualLibTorchsLossAndGradients) {
  torch::manual_seed(1);
  for (const LossKind kind : {LossKind::kBpr, LossKind::kSoftmax}) {
    for (const std::uint32_t pool : {1U, kPool}) {
      for (const std::uint32_t size : {1000U, 45U}) {
        if (kind == LossKind::kSoftmax && pool == 1) continue;
        NeuMfCase batch(24, 40, size, pool);
        batch.kind = kind;
        const NeuMfTerms found = test::neumf_terms(batch, torch::kCPU);
        const torch::Tensor head = batch.head.to(torch::kDouble).requires_grad_(true);
        const torch::Tensor rows = batch.vectors.to(torch::kDouble)
                                       .index_select(0, batch.rows.to(torch::kLong))
                                       .requires_grad_(true);
        const torch::Tensor users = rows.slice(0, 0, size);
        const torch::Tensor positives = rows.slice(0, size, 2 * size);
        const torch::Tensor pools = rows.slice(0, 2 * size).view({-1, pool, rows.size(1)});
        const torch::Tensor block =
            torch::arange(std::int64_t{size}).div(std::int64_t{pool}, "floor");
        const torch::Tensor x =
            scores(batch, users, positives, head).unsqueeze(1) -
            scores(batch, users.unsqueeze(1), pools.index_select(0, block), head);
        torch::Tensor terms =
            kind == LossKind::kBpr ? torch::softplus(-x) : torch::exp(-x / batch.temperature);
        if (pool > 1) {
          const torch::Tensor bits =
              torch::pow(2, torch::arange(std::int64_t{kPool})).to(torch::kLong).unsqueeze(0);
          const torch::Tensor seen =
              batch.seen_mask.to(torch::kLong).unsqueeze(1).bitwise_and(bits);
          terms = terms * (seen == 0);
        }
        const torch::Tensor loss = kind == LossKind::kBpr ? terms.sum(1) / static_cast<double>(pool)
                                                          : terms.sum(1).log1p();
        loss.mean().backward();
        EXPECT_TRUE(torch::allclose(found.loss.to(torch::kDouble), loss, 1e-5, 1e-6));
        EXPECT_TRUE(torch::allclose(found.contributions.to(torch::kDouble), rows.grad(), 1e-4,
                                    1e-6 / size));
        EXPECT_TRUE(
            torch::allclose(found.head_gradient.to(torch::kDouble), head.grad(), 1e-4, 1e-6));
      }
    }
  }
}

TEST(NeuMfTerms, AreTheSameForAnyThreadCount) {
  torch::manual_seed(2);
  for (const std::uint32_t pool : {1U, kPool}) {
    const NeuMfCase batch(16, 24, 3001, pool);
    const auto run = [&](int threads) {
      torch::set_num_threads(threads);
      return test::neumf_terms(batch, torch::kCPU);
    };
    const NeuMfTerms one = run(1);
    const NeuMfTerms three = run(3);
    EXPECT_TRUE(torch::equal(one.loss, three.loss));
    EXPECT_TRUE(torch::equal(one.contributions, three.contributions));
    EXPECT_TRUE(torch::equal(one.head_gradient, three.head_gradient));
  }
}

}  // namespace
}  // namespace bet
