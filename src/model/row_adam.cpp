#include "model/row_adam.h"

#include <ATen/ops/zeros_like.h>

#include <array>
#include <cmath>
#include <numeric>

#include "kernels/kernels.h"
#include "model/parallel_chunks.h"

namespace bet {

RowAdam::RowAdam(const MaskedTable& table, const AdamOptions& options)
    : options_(options),
      moment1_(at::zeros_like(table.values.detach())),
      moment2_(at::zeros_like(table.values.detach())) {}

double RowAdam::step(MaskedTable& table, float learning_rate,
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
  constexpr std::int64_t kParts = 256;  // summed in one order for any number of threads
  std::array<double, kParts> squares{};
  const std::int64_t num_rows = table.num_rows();
  parallel_chunks(kParts, [&](std::int64_t part) {
    squares[static_cast<std::size_t>(part)] =
        kernels().adam_rows(args, static_cast<std::size_t>(num_rows * part / kParts),
                            static_cast<std::size_t>(num_rows * (part + 1) / kParts));
  });
  return std::accumulate(squares.begin(), squares.end(), 0.0);
}

}  // namespace bet
