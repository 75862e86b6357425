#pragma once

#include <torch/torch.h>

#include "model/executor.h"
#include "model/tensor_pointers.h"

namespace bet::test {

// The input of a batch of NeuMF's loss terms over random rows, on the CPU.
struct NeuMfCase {
  static constexpr std::int64_t kRows = 500;
  std::uint32_t num_products, num_hidden, size, pool;
  torch::Tensor vectors, head, rows, seen_mask;
  LossKind kind = LossKind::kBpr;
  float temperature = 0.7F;

  NeuMfCase(std::uint32_t products, std::uint32_t hidden, std::uint32_t entries,
            std::uint32_t negatives)
      : num_products(products), num_hidden(hidden), size(entries), pool(negatives) {
    const std::int64_t columns = products + hidden;
    vectors = torch::zeros({kRows, row_stride(products + hidden)});
    vectors.slice(1, 0, columns).normal_(0, 0.4);
    head = torch::randn({columns}) * 0.5;
    const std::int64_t num_slots = 2 * size + (size + pool - 1) / pool * pool;
    rows = torch::randint(kRows, {num_slots}, torch::kInt);
    seen_mask = torch::randint(1 << 30, {size}, torch::kInt).bitwise_and(0x11111111 * 3);
  }
};

struct NeuMfTerms {
  torch::Tensor loss, contributions, head_gradient;
};

// The terms as the executor of a device computes them.
inline NeuMfTerms neumf_terms(const NeuMfCase& on_cpu, const torch::Device& device) {
  const torch::Tensor vectors = on_cpu.vectors.to(device);
  const torch::Tensor head = on_cpu.head.to(device);
  const torch::Tensor rows = on_cpu.rows.to(device);
  const torch::Tensor seen_mask = on_cpu.seen_mask.to(device);
  const auto options = vectors.options();
  NeuMfTerms terms;
  terms.loss = torch::full({on_cpu.size}, -99.0F, options);
  terms.contributions = torch::full({rows.size(0), vectors.size(1)}, -99.0F, options);
  terms.head_gradient = torch::full({head.size(0)}, -99.0F, options);
  NeuMfArgs args;
  args.vectors = vectors.data_ptr<float>();
  args.stride = static_cast<std::uint32_t>(vectors.size(1));
  args.num_products = on_cpu.num_products;
  args.num_hidden = on_cpu.num_hidden;
  args.head = head.data_ptr<float>();
  args.rows = u32_data(rows);
  args.seen_mask = u32_data(seen_mask);
  args.size = on_cpu.size;
  args.pool = on_cpu.pool;
  args.kind = on_cpu.kind;
  args.temperature = on_cpu.temperature;
  args.loss = terms.loss.data_ptr<float>();
  args.contributions = terms.contributions.data_ptr<float>();
  args.head_gradient = terms.head_gradient.data_ptr<float>();
  executor_for(device).run_terms(args);
  executor_for(device).wait();
  return terms;
}

}  // namespace bet::test
