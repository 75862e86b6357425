#include "model/row_adam.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "model/executor.h"
#include "model/tensor_pointers.h"

namespace bet {
namespace {

at::Tensor bytes_on(const void* data, std::size_t size, const at::Device& device) {
  at::Tensor tensor = at::empty({static_cast<std::int64_t>(size)}, at::kByte);
  std::memcpy(tensor.data_ptr(), data, size);
  return tensor.to(device);
}

}  // namespace

RowAdam::RowAdam(const ModelParameters& table, const AdamOptions& options, std::uint64_t max_steps,
                 const std::function<double(std::uint64_t)>& rate_after)
    : options_(options),
      moment1_(at::zeros_like(table.values)),
      moment2_(at::zeros_like(table.values)) {
  std::vector<StepRate> rates;
  for (std::uint64_t step = 0; step < max_steps; ++step) {
    const auto t = static_cast<double>(step + 1);
    rates.push_back({static_cast<float>(rate_after(step) / (1.0 - std::pow(options_.beta1, t))),
                     static_cast<float>(
                         1.0 / std::sqrt(1.0 - std::pow(static_cast<double>(options_.beta2), t)))});
  }
  rates_ = bytes_on(rates.data(), rates.size() * sizeof(StepRate), table.values.device());
  records_ = bytes_on(std::vector<StepRecord>(table.models.size()).data(),
                      table.models.size() * sizeof(StepRecord), table.values.device());
}

const StepRecord* RowAdam::device_record(std::size_t model) const {
  return static_cast<const StepRecord*>(records_.data_ptr()) + model;
}

std::vector<StepRecord> RowAdam::records() const {
  const at::Tensor here = records_.cpu();
  std::vector<StepRecord> records(static_cast<std::size_t>(here.numel()) / sizeof(StepRecord));
  std::memcpy(records.data(), here.data_ptr(), static_cast<std::size_t>(here.numel()));
  return records;
}

void RowAdam::set_records(const std::vector<StepRecord>& records) {
  BET_CHECK(records.size() * sizeof(StepRecord) == static_cast<std::size_t>(records_.numel()),
            "records of ", records.size(), " models");
  records_.copy_(bytes_on(records.data(), records.size() * sizeof(StepRecord), at::kCPU));
}

void RowAdam::step(ModelParameters& table, const at::Tensor& gradient,
                   const Regulariser& regulariser, const at::Tensor& loss) {
  const Batch* const batch = regulariser.batch;
  const double l2 = batch != nullptr ? regulariser.l2 / static_cast<double>(batch->size()) : 0.0;
  AdamArgs args;
  args.parameter = table.values.data_ptr<float>();
  args.moment1 = moment1_.data_ptr<float>();
  args.moment2 = moment2_.data_ptr<float>();
  args.gradient = gradient.data_ptr<float>();
  args.stride = static_cast<std::uint32_t>(table.stride());
  if (batch != nullptr) args.batch_offsets = u64_data(batch->offsets);
  args.l2 = static_cast<float>(2.0 * l2);
  args.beta1 = options_.beta1;
  args.beta2 = options_.beta2;
  args.epsilon = options_.epsilon;
  args.rates = static_cast<const StepRate*>(rates_.data_ptr());
  for (std::size_t model = 0; model < table.models.size(); ++model) {
    args.first_column = table.models[model].first;
    args.columns = row_stride(table.models[model].width);
    args.sizes = half_words(table.sizes) + model * static_cast<std::size_t>(table.num_rows());
    args.record = device_record(model);
    executor_for(table.values.device())
        .adam_and_record(args, static_cast<std::size_t>(table.num_rows()),
                         loss.data_ptr<float>() + model, l2,
                         const_cast<StepRecord*>(device_record(model)));
  }
}

}  // namespace bet
