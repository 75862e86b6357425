#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/available_memory.h"
#include "base/error.h"
#include "model/cpu_kernels.h"
#include "model/cpu_ranking.h"
#include "model/executor.h"
#include "model/parallel_chunks.h"
#include "model/ranking_over_ranks.h"
#include "model/tensor_memory.h"
#include "model/tensor_pointers.h"

namespace bet {
namespace {

// Row ranges of about equal work, [chunks[i], chunks[i + 1]), for rows with `offsets` entries.
template <std::size_t kCount>
std::array<std::size_t, kCount + 1> balanced_chunks(const std::uint64_t* offsets,
                                                    std::size_t num_rows) {
  // A row costs about as much as four entries, and each entry once.
  const auto work_before = [&](std::size_t row) { return offsets[row] + 4 * row; };
  std::array<std::size_t, kCount + 1> chunks{};
  for (std::size_t i = 1; i < kCount; ++i) {
    const std::uint64_t target = work_before(num_rows) * i / kCount;
    std::size_t low = chunks[i - 1];
    std::size_t high = num_rows;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (work_before(middle) < target) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    chunks[i] = low;
  }
  chunks[kCount] = num_rows;
  return chunks;
}

// Gathers the rows [begin, end) without the entries that are dropped or whose rows are zero
// (in_touched).
void gather_kept_rows(const GatherArgs& args, std::size_t begin, std::size_t end) {
  thread_local std::vector<std::uint64_t> offsets;
  thread_local std::vector<std::uint32_t> columns;
  const bool drops = args.drop.threshold != 0;
  const std::uint32_t key = drops ? drop_key(args.drop, args.drop.record->steps) : 0;
  const auto is_kept = [&](std::uint32_t row, std::uint32_t column) -> std::uint32_t {
    if (args.in_touched != nullptr && args.in_touched[column] == 0) return 0;
    if (!drops) return 1;
    return args.drop_transposed ? !is_dropped(args.drop, drop_row(key, column), row)
                                : !is_dropped(args.drop, drop_row(key, row), column);
  };
  offsets.resize(end - begin + 1);
  columns.assign(args.offsets[end] - args.offsets[begin] + kColumnSlack, 0);
  std::uint64_t kept = 0;
  for (std::size_t row = begin; row < end; ++row) {
    offsets[row - begin] = kept;
    for (std::uint64_t e = args.offsets[row]; e < args.offsets[row + 1]; ++e) {
      columns[kept] = args.columns[e];
      kept += is_kept(static_cast<std::uint32_t>(row), args.columns[e]);
    }
  }
  offsets[end - begin] = kept;
  GatherArgs sparse = args;
  sparse.offsets = offsets.data();
  sparse.first_row = begin;
  sparse.columns = columns.data();
  kernels().gather_rows(sparse, begin, end);
}

// The positions of each item in a block's pool. An item may be drawn more than once: `next` leads
// from one of its positions to another.
class PoolPositions {
 public:
  PoolPositions(std::uint32_t num_items, std::uint32_t pool)
      : first_(num_items, kNone), next_(pool) {}

  void set(std::uint32_t item, std::uint32_t position) {
    next_[position] = first_[item];
    first_[item] = static_cast<std::uint16_t>(position);
  }
  void clear(std::uint32_t item) { first_[item] = kNone; }

  // Sets the bits of the item's positions.
  void mark(std::uint32_t item, std::uint32_t* mask) const {
    for (std::uint16_t position = first_[item]; position != kNone; position = next_[position]) {
      mask[position / 32] |= std::uint32_t{1} << position % 32;
    }
  }

 private:
  static constexpr std::uint16_t kNone = 0xffff;
  static_assert(kMostPool <= kNone);
  std::vector<std::uint16_t> first_;  // by item
  std::vector<std::uint16_t> next_;   // by position
};

// Draws a block's pool and marks which of its negatives the users of its entries have seen.
void draw_pool(const DrawArgs& args, std::size_t block, PoolPositions& positions) {
  std::uint32_t* const pool = args.rows + 2 * std::size_t{args.size} + block * args.pool;
  for (std::uint32_t k = 0; k < args.pool; ++k) {
    const auto slot = static_cast<std::uint32_t>(block * args.pool + k);
    pool[k] = draw::pool_item(args, args.record->steps, slot);
    positions.set(pool[k] - args.num_users, k);
  }
  const std::uint32_t words = args.pool / 32;
  const std::size_t end = std::min<std::size_t>((block + 1) * args.pool, args.size);
  for (std::size_t entry = block * args.pool; entry < end; ++entry) {
    const std::uint32_t user = args.rows[entry];
    std::uint32_t* const mask = args.seen_mask + entry * words;
    std::fill_n(mask, words, 0U);
    for (std::uint64_t e = args.offsets[user]; e < args.offsets[user + 1]; ++e) {
      positions.mark(args.columns[e] - args.num_users, mask);
    }
  }
  for (std::uint32_t k = 0; k < args.pool; ++k) positions.clear(pool[k] - args.num_users);
}

class CpuLoop final : public Executor::Loop {
 public:
  void run(const std::function<void()>& work) override { work(); }
};

class CpuExecutor final : public Executor {
 public:
  void gather_rows(const GatherArgs& args, std::size_t num_rows) override {
    // Leaving entries out pays only where gathering a row costs more than the check.
    constexpr std::uint32_t kSparseStride = 32;
    const bool drop =
        args.drop.threshold != 0 || (args.in_touched != nullptr && args.stride >= kSparseStride);
    constexpr std::size_t kChunks = 256;
    const auto chunks = balanced_chunks<kChunks>(args.offsets, num_rows);
    parallel_chunks(kChunks, [&](std::int64_t chunk) {
      if (drop) {
        gather_kept_rows(args, chunks[chunk], chunks[chunk + 1]);
      } else {
        kernels().gather_rows(args, chunks[chunk], chunks[chunk + 1]);
      }
    });
  }

  void run_rows(const RowKernel& kernel, std::size_t num_rows) override {
    std::visit([&](const auto& args) { cpu::run_rows(args, num_rows); }, kernel);
  }

  void run_terms(const TermsKernel& kernel) override {
    std::visit([](const auto& args) { cpu::run_terms(args); }, kernel);
  }

  void draw_batch(const DrawArgs& args) override {
    const std::uint64_t step = args.record->steps;
    constexpr std::int64_t kGrain = 512;
    at::parallel_for(0, args.size, kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        draw::entry(args, step, static_cast<std::uint32_t>(i));
      }
    });
    if (args.pool == 1) return;
    const auto num_blocks = static_cast<std::int64_t>((args.size + args.pool - 1) / args.pool);
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / args.pool);
    at::parallel_for(0, num_blocks, grain, [&](std::int64_t begin, std::int64_t end) {
      PoolPositions positions(args.num_items, args.pool);
      for (std::int64_t block = begin; block < end; ++block) {
        draw_pool(args, static_cast<std::size_t>(block), positions);
      }
    });
  }

  void group_slots(Batch& batch) override {
    const std::uint32_t* const rows = u32_data(batch.rows);
    std::uint64_t* const offsets = u64_data(batch.offsets);
    std::uint32_t* const slots = u32_data(batch.slots);
    std::uint8_t* const touched = bytes(batch.touched);
    const auto num_rows = static_cast<std::size_t>(batch.num_rows());
    const std::uint32_t num_slots = batch.num_slots();
    std::fill(offsets, offsets + num_rows + 1, 0);
    for (std::uint32_t slot = 0; slot < num_slots; ++slot) ++offsets[rows[slot] + 1];
    for (std::size_t row = 0; row < num_rows; ++row) {
      touched[row] = offsets[row + 1] != 0 ? 1 : 0;
      offsets[row + 1] += offsets[row];
    }
    // While row r is filled, offsets[r] moves to its end, which is the beginning of row r + 1.
    for (std::uint32_t slot = 0; slot < num_slots; ++slot) {
      slots[offsets[rows[slot]]++] = slot;
    }
    std::copy_backward(offsets, offsets + num_rows, offsets + num_rows + 1);
    offsets[0] = 0;
  }

  void mean(const float* values, std::size_t count, float* out) override {
    const double sum = std::accumulate(values, values + count, 0.0);
    *out = static_cast<float>(sum / static_cast<double>(count));
  }

  void adam_and_record(const AdamArgs& args, std::size_t num_rows, const float* loss,
                       double squares_scale, StepRecord* record) override {
    constexpr std::size_t kParts = 256;  // summed in one order for any number of threads
    std::array<double, kParts> squares{};
    parallel_chunks(kParts, [&](std::int64_t part) {
      const auto index = static_cast<std::size_t>(part);
      squares[index] =
          kernels().adam_rows(args, num_rows * index / kParts, num_rows * (index + 1) / kParts);
    });
    const double total =
        *loss + squares_scale * std::accumulate(squares.begin(), squares.end(), 0.0);
    ++record->steps;
    if (record->bad_step == 0 && !std::isfinite(total)) {
      record->bad_step = record->steps;
      record->bad_loss = total;
    }
    record->loss_sum += total;
  }

  std::vector<ItemId> top_items(const at::Tensor& vectors, const Scoring& scoring,
                                std::span<const UserId> users, const Graph& seen,
                                std::uint32_t k) override {
    BET_CHECK(scoring.ranks == nullptr, "lists of items by vectors that are divided among ranks");
    return cpu_top_items(vectors, scoring, users, seen, k);
  }

  std::vector<std::uint32_t> top_hits(const at::Tensor& vectors, const Scoring& scoring,
                                      const HeldOutItems& held, const Graph& seen,
                                      std::uint32_t k) override {
    if (scoring.ranks != nullptr) return top_hits_over_ranks(vectors, scoring, held, seen, k);
    return hits_of_lists(cpu_top_items(vectors, scoring, held.users, seen, k), held, 0, k);
  }

  void run_concurrently(const std::function<void()>& work) override { work(); }
  void join() override {}

  std::unique_ptr<Loop> make_loop() override { return std::make_unique<CpuLoop>(); }
  void wait() override {}
  std::string name() const override { return "cpu"; }
  std::uint64_t free_bytes() const override { return available_bytes() + reusable_tensor_bytes(); }
};

}  // namespace

Executor& cpu_executor() {
  static CpuExecutor executor;
  return executor;
}

}  // namespace bet
