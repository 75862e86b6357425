#include "model/bpr_loss.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"
#include "kernels/kernels.h"
#include "model/parallel_chunks.h"

namespace bet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kTripleGrain = 512;
constexpr std::int64_t kEntryGrain = 4096;

class BprLoss : public torch::autograd::Function<BprLoss> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& vectors,
                            const TripleBatch* batch, const BatchEntries* entries) {
    BET_CHECK(vectors.is_cpu(), "BPR on device ", vectors.device().str(),
              ": this build runs on the CPU only");
    const auto size = static_cast<std::int64_t>(batch->size());
    const at::Tensor loss = at::empty({size}, vectors.options());
    const at::Tensor slope = at::empty({size}, vectors.options());
    BprArgs args;
    args.vectors = vectors.data_ptr<float>();
    args.stride = static_cast<std::uint32_t>(vectors.size(1));
    args.users = batch->users.data();
    args.positives = batch->positives.data();
    args.negatives = batch->negatives.data();
    args.loss = loss.data_ptr<float>();
    args.slope = slope.data_ptr<float>();
    at::parallel_for(0, size, kTripleGrain, [&](std::int64_t begin, std::int64_t end) {
      kernels().bpr_terms(args, static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
    });
    double sum = 0;
    for (std::int64_t t = 0; t < size; ++t) sum += args.loss[t];
    context->save_for_backward({vectors, slope});
    context->saved_data["entries"] = reinterpret_cast<std::int64_t>(entries);
    return at::full({}, sum / static_cast<double>(size), vectors.options());
  }

  // d loss / d row = sum over its entries of (+-) slope / size * (row on the other side).
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& vectors = saved[0];
    const auto* entries =
        reinterpret_cast<const BatchEntries*>(context->saved_data["entries"].toInt());
    const float* slope = saved[1].data_ptr<float>();
    const auto num_entries = static_cast<std::int64_t>(entries->triples.size());
    const float scale = gradients[0].item<float>() / static_cast<float>(saved[1].size(0));
    const at::Tensor weight = at::empty({num_entries}, vectors.options());
    float* weights = weight.data_ptr<float>();
    at::parallel_for(0, num_entries, kEntryGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t e = begin; e < end; ++e) {
        const std::uint32_t triple = entries->triples[e];
        const float signed_scale = (triple & 1) != 0 ? -scale : scale;
        weights[e] = signed_scale * slope[triple >> 1];
      }
    });
    const at::Tensor gradient = at::empty_like(vectors);
    GatherArgs args;
    args.offsets = entries->offsets.data();
    args.columns = entries->columns.data();
    args.entry_weight = weights;
    args.in = vectors.data_ptr<float>();
    args.out = gradient.data_ptr<float>();
    args.stride = static_cast<std::uint32_t>(vectors.size(1));
    constexpr int kChunks = 64;
    const std::vector<std::int64_t> chunks = balanced_chunks(entries->offsets, kChunks);
    parallel_chunks(kChunks, [&](std::int64_t chunk) {
      kernels().gather_rows(args, static_cast<std::size_t>(chunks[chunk]),
                            static_cast<std::size_t>(chunks[chunk + 1]));
    });
    return {gradient, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor bpr_loss(const at::Tensor& vectors, const TripleBatch& batch,
                    const BatchEntries& entries) {
  BET_CHECK(batch.size() > 0, "BPR loss of an empty batch");
  return BprLoss::apply(vectors, &batch, &entries);
}

}  // namespace bet
