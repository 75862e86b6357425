#include "model/batch_loss.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "model/cosine.h"
#include "model/executor.h"
#include "model/summed_terms.h"
#include "model/tensor_pointers.h"

namespace bet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Room for `rows` rows of the models' columns; columns that no model has are zero.
at::Tensor room_for_all(std::int64_t rows, std::int64_t stride, std::int64_t covered,
                        const at::TensorOptions& options) {
  return covered == stride ? at::empty({rows, stride}, options)
                           : at::zeros({rows, stride}, options);
}

// On a CPU each of several models has its columns in a table of its own while its loss is computed:
// rows are read in random order, and those of one model stay in the cache.
bool has_own_tables(const at::Tensor& vectors, std::size_t num_models) {
  return vectors.is_cpu() && num_models > 1;
}

class BatchLoss : public torch::autograd::Function<BatchLoss> {
 public:
  // What each slot of the batch contributes to the gradient is known together with the loss; the
  // backward pass adds up the contributions of each row.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& vectors,
                            std::span<const ModelColumns> models, const Batch* batch,
                            std::span<const LossOptions> losses, RankGroup* ranks) {
    Executor& executor = executor_for(vectors.device());
    const bool own_tables = has_own_tables(vectors, models.size());
    // Of all models, or of each.
    variable_list contributions;
    if (!own_tables) {
      std::int64_t covered = 0;
      for (const ModelColumns& model : models) covered += row_stride(model.width);
      contributions.push_back(
          room_for_all(batch->num_slots(), vectors.size(1), covered, vectors.options()));
    }
    const at::Tensor terms = at::empty({std::int64_t{batch->size()}}, vectors.options());
    at::Tensor loss = at::empty({static_cast<std::int64_t>(models.size())}, vectors.options());
    LossArgs args;
    args.rows = u32_data(batch->rows);
    args.seen_mask = u32_data(batch->seen_mask);
    args.size = batch->size();
    args.pool = batch->pool();
    args.loss = terms.data_ptr<float>();
    std::vector<std::int64_t> firsts;
    for (std::size_t model = 0; model < models.size(); ++model) {
      args.first_column = models[model].first;
      args.columns = row_stride(models[model].width);
      at::Tensor table = vectors;
      if (own_tables) {
        firsts.push_back(args.first_column);
        table = vectors.narrow(1, args.first_column, args.columns).contiguous();
        contributions.push_back(
            at::empty({std::int64_t{batch->num_slots()}, table.size(1)}, vectors.options()));
        args.first_column = 0;
      }
      args.vectors = table.data_ptr<float>();
      args.stride = static_cast<std::uint32_t>(table.size(1));
      args.contributions = contributions.back().data_ptr<float>();
      args.kind = losses[model].kind;
      args.temperature = static_cast<float>(losses[model].temperature);
      if (ranks == nullptr) {
        executor.run_terms(args);
      } else {
        run_summed_terms(args, *ranks);
      }
      executor.mean(args.loss, args.size, loss.data_ptr<float>() + model);
    }
    context->save_for_backward(contributions);
    context->saved_data["batch"] = reinterpret_cast<std::int64_t>(batch);
    context->saved_data["stride"] = vectors.size(1);
    context->saved_data["firsts"] = firsts;
    return loss;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list contributions = context->get_saved_variables();
    const auto* batch = reinterpret_cast<const Batch*>(context->saved_data["batch"].toInt());
    const std::vector<std::int64_t> firsts = context->saved_data["firsts"].toIntVector();
    const at::Tensor factor = gradients[0].contiguous();
    at::Tensor gradient;
    if (firsts.empty()) {
      gradient = batch->sum_slots(contributions[0], factor);
    } else {
      std::int64_t covered = 0;
      for (const at::Tensor& own : contributions) covered += own.size(1);
      gradient = room_for_all(batch->num_rows(), context->saved_data["stride"].toInt(), covered,
                              contributions[0].options());
      for (std::size_t model = 0; model < firsts.size(); ++model) {
        const at::Tensor own = batch->sum_slots(contributions[model], factor);
        gradient.narrow(1, firsts[model], own.size(1)).copy_(own);
      }
    }
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
