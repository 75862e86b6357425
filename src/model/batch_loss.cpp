#include "model/batch_loss.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "model/cosine.h"
#include "model/executor.h"
#include "model/summed_terms.h"
#include "model/tensor_pointers.h"

namespace bet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class BatchLoss : public torch::autograd::Function<BatchLoss> {
 public:
  // What each slot of the batch contributes to the gradient is known together with the loss; the
  // backward pass adds up the contributions of each row.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& vectors,
                            std::span<const ModelColumns> models, const Batch* batch,
                            std::span<const LossOptions> losses, RankGroup* ranks) {
    Executor& executor = executor_for(vectors.device());
    const std::int64_t stride = vectors.size(1);
    std::uint32_t covered = 0;
    for (const ModelColumns& model : models) covered += row_stride(model.width);
    const std::array<std::int64_t, 2> shape = {batch->num_slots(), stride};
    const at::Tensor contributions = covered == stride ? at::empty(shape, vectors.options())
                                                       : at::zeros(shape, vectors.options());
    const at::Tensor terms = at::empty({std::int64_t{batch->size()}}, vectors.options());
    at::Tensor loss = at::empty({static_cast<std::int64_t>(models.size())}, vectors.options());
    LossArgs args;
    args.vectors = vectors.data_ptr<float>();
    args.stride = static_cast<std::uint32_t>(stride);
    args.rows = u32_data(batch->rows);
    args.seen_mask = u32_data(batch->seen_mask);
    args.size = batch->size();
    args.pool = batch->pool();
    args.loss = terms.data_ptr<float>();
    args.contributions = contributions.data_ptr<float>();
    for (std::size_t model = 0; model < models.size(); ++model) {
      args.first_column = models[model].first;
      args.columns = row_stride(models[model].width);
      args.kind = losses[model].kind;
      args.temperature = static_cast<float>(losses[model].temperature);
      if (ranks == nullptr) {
        executor.run_terms(args);
      } else {
        run_summed_terms(args, *ranks);
      }
      executor.mean(args.loss, args.size, loss.data_ptr<float>() + model);
    }
    context->save_for_backward({contributions});
    context->saved_data["batch"] = reinterpret_cast<std::int64_t>(batch);
    return loss;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor contributions = context->get_saved_variables()[0];
    const auto* batch = reinterpret_cast<const Batch*>(context->saved_data["batch"].toInt());
    const at::Tensor gradient = batch->sum_slots(contributions, gradients[0].contiguous());
    return {gradient, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor batch_loss(const at::Tensor& vectors, std::span<const ModelColumns> models,
                      const Batch& batch, std::span<const LossOptions> losses, RankGroup* ranks) {
  BET_CHECK(vectors.size(0) == batch.num_rows(), "the loss of ", vectors.size(0),
            " rows with a batch over ", batch.num_rows());
  BET_CHECK(losses.size() == models.size(), losses.size(), " losses for ", models.size(),
            " models");
  const ScoreKind score = losses[0].score;
  BET_CHECK(
      std::ranges::all_of(losses, [&](const LossOptions& loss) { return loss.score == score; }),
      "models side by side are scored by dot products and by cosines");
  BET_CHECK(ranks == nullptr || (score == ScoreKind::kDot && vectors.is_cpu()),
            "a loss over ranks is of dot products, on the CPU");
  if (score == ScoreKind::kDot) return BatchLoss::apply(vectors, models, &batch, losses, ranks);
  return BatchLoss::apply(normalised(vectors, models, &batch.touched), models, &batch, losses,
                          ranks);
}

}  // namespace bet
