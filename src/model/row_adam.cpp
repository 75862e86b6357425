#include "model/row_adam.h"

#include <ATen/Parallel.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "kernels/kernels.h"

namespace bet {

RowAdam::RowAdam(const MaskedTable& table, const AdamOptions& options)
    : options_(options),
      moment1_(at::zeros_like(table.values.detach())),
      moment2_(at::zeros_like(table.values.detach())) {}

void RowAdam::step(MaskedTable& table, float learning_rate,
                   const std::vector<std::uint32_t>& row_count, float l2) {
  ++num_steps_;
  const auto t = static_cast<double>(num_steps_);
  AdamArgs args;
  args.parameter = table.values.data_ptr<float>();
  args.moment1 = moment1_.data_ptr<float>();
  args.moment2 = moment2_.data_ptr<float>();
  args.gradient = table.values.grad().data_ptr<float>();
  args.stride = static_cast<std::uint32_t>(table.values.size(1));
  args.sizes = reinterpret_cast<const std::uint16_t*>(table.sizes.data_ptr<std::int16_t>());
  args.row_count = row_count.data();
  args.l2 = l2;
  args.beta1 = options_.beta1;
  args.beta2 = options_.beta2;
  args.step_size = static_cast<float>(learning_rate / (1.0 - std::pow(options_.beta1, t)));
  args.denominator_scale =
      static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(static_cast<double>(options_.beta2), t)));
  args.epsilon = options_.epsilon;
  constexpr std::int64_t kGrain = 256;
  at::parallel_for(0, table.num_rows(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    kernels().adam_rows(args, static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
  });
}

}  // namespace bet
