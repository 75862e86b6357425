#include "model/cpu_kernels.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "model/parallel_chunks.h"

namespace bet::cpu {
namespace {

// Runs a kernel of the machine's best instruction set over all rows, some at a time.
template <typename Args>
void over_rows(void (*kernel)(const Args& args, std::size_t begin_row, std::size_t end_row),
               const Args& args, std::size_t num_rows) {
  constexpr std::size_t kRows = 256;
  parallel_chunks(static_cast<std::int64_t>((num_rows + kRows - 1) / kRows),
                  [&](std::int64_t chunk) {
                    const std::size_t begin = static_cast<std::size_t>(chunk) * kRows;
                    kernel(args, begin, std::min(begin + kRows, num_rows));
                  });
}

// A batch's entries [first, last), or its blocks that share a pool, in parts of equal size.
class BatchParts {
 public:
  BatchParts(std::size_t first, std::size_t last, std::uint32_t pool)
      : first_(first / pool),
        last_((last + pool - 1) / pool),
        grain_(pool == 1 ? 512 : std::max(1U, 256 / pool)) {}
  BatchParts(std::uint32_t size, std::uint32_t pool) : BatchParts(0, size, pool) {}

  std::int64_t count() const {
    return static_cast<std::int64_t>((last_ - first_ + grain_ - 1) / grain_);
  }
  std::size_t begin(std::int64_t part) const {
    return first_ + static_cast<std::size_t>(part) * grain_;
  }
  std::size_t end(std::int64_t part) const { return std::min(begin(part) + grain_, last_); }

 private:
  std::size_t first_;
  std::size_t last_;
  std::size_t grain_;
};

// LossArgs::scratch; null where each entry has its own negative.
float* scratch_of_thread(std::uint32_t pool, std::uint32_t columns) {
  if (pool == 1) return nullptr;
  constexpr std::size_t kLine = 64 / sizeof(float);
  static thread_local std::vector<float> memory;
  const std::size_t floats = pool_scratch(pool, columns) + kLine;
  if (memory.size() < floats) memory.resize(floats);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  return memory.data() + (64 - address % 64) % 64 / sizeof(float);
}

}  // namespace

void run_rows(const ActivateArgs& args, std::size_t num_rows) {
  over_rows(kernels().activate_rows, args, num_rows);
}

void run_rows(const ActivateBackArgs& args, std::size_t num_rows) {
  over_rows(kernels().activate_back_rows, args, num_rows);
}

void run_rows(const SplitArgs& args, std::size_t num_rows) {
  over_rows(kernels().split_rows, args, num_rows);
}

void run_rows(const NormaliseArgs& args, std::size_t num_rows) {
  over_rows(kernels().normalise_rows, args, num_rows);
}

void run_rows(const NormaliseBackArgs& args, std::size_t num_rows) {
  over_rows(kernels().normalise_back_rows, args, num_rows);
}

void run_rows(const QuantiseArgs& args, std::size_t num_rows) {
  over_rows(kernels().quantise_rows, args, num_rows);
}

namespace {

using LossKernel = void (*)(const LossArgs& args, std::size_t begin, std::size_t end);

void over_entries(LossKernel kernel, const LossArgs& args, std::size_t begin, std::size_t end) {
  const BatchParts parts(begin, end, args.pool);
  parallel_chunks(parts.count(), [&](std::int64_t part) {
    LossArgs own = args;
    own.scratch = scratch_of_thread(args.pool, args.columns);
    kernel(own, parts.begin(part), parts.end(part));
  });
}

}  // namespace

void run_terms(const LossArgs& args) { run_terms(args, 0, args.size); }

void run_terms(const LossArgs& args, std::size_t begin_entry, std::size_t end_entry) {
  over_entries(args.pool > 1 ? kernels().loss_pools : kernels().loss_pairs, args, begin_entry,
               end_entry);
}

void score_terms(const LossArgs& args, std::size_t begin_entry, std::size_t end_entry) {
  over_entries(args.pool > 1 ? kernels().score_pools : kernels().score_pairs, args, begin_entry,
               end_entry);
}

// The parts are the same for any number of threads, and so is the sum of their gradients of the
// head.
void run_terms(const NeuMfArgs& args) {
  BET_CHECK(args.pool == 1 || args.pool == kPool, "NeuMF's terms with pools of ", args.pool);
  const auto terms = args.pool > 1 ? kernels().neumf_pools : kernels().neumf_pairs;
  const BatchParts parts(args.size, args.pool);
  const std::size_t columns = std::size_t{args.num_products} + args.num_hidden;
  std::vector<float> to_head(static_cast<std::size_t>(parts.count()) * columns);
  parallel_chunks(parts.count(), [&](std::int64_t part) {
    NeuMfArgs own = args;
    own.scratch = scratch_of_thread(args.pool, args.num_products + args.num_hidden);
    own.head_gradient = to_head.data() + static_cast<std::size_t>(part) * columns;
    terms(own, parts.begin(part), parts.end(part));
  });
  std::vector<double> sum(columns);
  for (std::size_t i = 0; i < to_head.size(); i += columns) {
    for (std::size_t c = 0; c < columns; ++c) sum[c] += to_head[i + c];
  }
  std::transform(sum.begin(), sum.end(), args.head_gradient,
                 [](double value) { return static_cast<float>(value); });
}

}  // namespace bet::cpu
