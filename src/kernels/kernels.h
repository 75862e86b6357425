#pragma once

#include <cstddef>
#include <cstdint>

#include "base/precision.h"
#include "kernels/dropout.h"
#include "kernels/ngcf.h"

// The hot loops, on plain pointers and a range of rows. They know no threads: callers run them over
// disjoint ranges. Every kernel exists for several instruction sets; kernels() returns the best
// that this machine has. kernels/cuda_kernels.h has their twins for the GPU, which take the same
// arguments with pointers to device memory.
//
// A table is row-major: row r begins at r * stride floats, stride is row_stride(width), columns
// from width to stride are zero. Tables start on 64-byte boundaries. Several models may lie side by
// side in one table, each in its own columns.

namespace bet {

// Floats from one row of a table to the next: rows of a few columns share a cache line, wider ones
// begin on their own.
constexpr std::uint32_t row_stride(std::uint32_t width) {
  if (width <= 8) return 8;
  return (width + 15) / 16 * 16;
}

// Entries behind the last one that must be readable and hold valid columns, because rows are
// prefetched.
constexpr std::size_t kColumnSlack = 16;

// A pool has a multiple of this many negatives, at most kMostPool, and is shared by a block of as
// many entries of a batch.
constexpr std::uint32_t kPool = 32;
constexpr std::uint32_t kMostPool = 512;

// What a pair of a positive and its negatives costs, by their scores s+ and s-.
enum class LossKind : std::uint8_t {
  kBpr,      // the mean over the negatives of softplus(s- - s+)
  kSoftmax,  // log(1 + the sum over the negatives of exp((s- - s+) / temperature))
};

// out[r] = base_scale[r] * base[r] + factor * sum_scale[r] * sum over the entries e of row r of
//          column_weight[columns[e]] * in[columns[e]]
// This one product is a layer of propagation and, with a batch's slots as entries, the gradient of
// the BPR loss.
struct GatherArgs {
  const std::uint64_t* offsets = nullptr;      // entries of row r: from offsets[r - first_row]
  std::size_t first_row = 0;                   // always 0 on the GPU
  const std::uint32_t* columns = nullptr;      // by entry, and kColumnSlack more
  const float* column_weight = nullptr;        // by column; null: all one
  const float* in = nullptr;                   // fp32 rows to gather; or
  const std::uint16_t* in_bf16 = nullptr;      // bfloat16 rows
  const std::uint8_t* in_touched = nullptr;    // by column; rows of 0 are zero. null: not known
  const float* base = nullptr;                 // may be null: nothing is added
  const float* base_scale = nullptr;           // by row; null: all one
  const std::uint8_t* base_touched = nullptr;  // by row; rows of 0 have a zero base. null: none
  const float* sum_scale = nullptr;            // by row; null: all one
  const float* factor = nullptr;               // one number; null: one
  const std::uint8_t* needed = nullptr;        // by row; rows of 0 are not written. null: all are
  float* out = nullptr;                        // fp32 rows to write; or
  std::uint16_t* out_bf16 = nullptr;           // bfloat16 rows
  const float* product = nullptr;              // if not null, rows of `out` are twice as long: the
                                               // result, and its product with this row, in fp32
  Dropout drop;                                // of entries, by row and column
  bool drop_transposed = false;                // by column and row instead
  bool drop_base = false;                      // of base rows too, as entries (row, row)
  std::uint32_t stride = 0;
  bool past_cache = false;  // the fp32 result is too large for the caches: write it past them
};

// The loss terms of a batch of `size` entries (user, positive) over rows of `vectors`, whose dot
// products are the scores. With a pool of 1 each entry has its own negative, and the loss is BPR.
// With larger pools each block of `pool` consecutive entries shares `pool` negatives, and every
// entry is paired with those that its user has not seen.
//
// A *slot* is a position in the batch that holds a row: the users first, then the positives, then
// the negatives, block by block.
struct LossArgs {
  const float* vectors = nullptr;
  std::uint32_t stride = 0;                  // of vectors and contributions
  std::uint32_t first_column = 0;            // the model's own columns, a multiple of 8
  std::uint32_t columns = 0;                 // how many: row_stride of its width
  const std::uint32_t* rows = nullptr;       // by slot
  const std::uint32_t* seen_mask = nullptr;  // for pools: by entry pool / 32 words; bit k % 32 of
                                             // word k / 32 is set if the pool's k-th negative is
                                             // one of the user's own items
  std::uint32_t size = 0;
  std::uint32_t pool = 1;  // 1 or a multiple of kPool
  LossKind kind = LossKind::kBpr;
  float temperature = 1;           // of kSoftmax
  float* loss = nullptr;           // by entry; negatives that were seen do not count, and for BPR
                                   // their terms are zero
  float* contributions = nullptr;  // by slot: the part of it in the gradient of the batch's mean
                                   // loss for its row
  float* scratch = nullptr;  // CPU, pools: pool_scratch(pool, columns) floats of the thread's own

  // CPU: the scores, where they are not the dot products of these columns alone (other ranks have
  // the others). Written by score_pairs and score_pools; loss_pairs and loss_pools then take them
  // as they are now, and pools leave their slopes in them. null: there are none.
  float* scores = nullptr;           // from first_scored on: by entry, the positive's less the
                                     // negative's; with pools the negatives', `pool` for each of a
                                     // multiple of kPool entries, in the order of the kernels
  float* positive_scores = nullptr;  // with pools: from first_scored on by entry, the positive's
  std::size_t first_scored = 0;      // entry; the first of a block
};

// Room for the negatives and kPool users by column, and for the pulls of these.
constexpr std::size_t pool_scratch(std::uint32_t pool, std::uint32_t columns) {
  return std::size_t{pool} * (columns + kPool) + std::size_t{kPool} * columns;
}

// out[r] = in[r] / |in[r]| for the model's columns of rows that are needed; a row of zeros stays.
struct NormaliseArgs {
  const float* in = nullptr;
  float* out = nullptr;
  float* inverse_norms = nullptr;        // out: by row, 1 / |in[r]|, 0 for a row of zeros
  const std::uint8_t* needed = nullptr;  // by row; null: all are
  std::uint32_t stride = 0;
  std::uint32_t first_column = 0;  // as in LossArgs
  std::uint32_t columns = 0;
};

// in_gradient[r] = inverse_norms[r] * (gradient[r] - (gradient[r] . out[r]) * out[r]); zero for
// rows that are not needed.
struct NormaliseBackArgs {
  const float* out = nullptr;  // as NormaliseArgs left it
  const float* inverse_norms = nullptr;
  const std::uint8_t* needed = nullptr;
  const float* gradient = nullptr;
  float* in_gradient = nullptr;
  std::uint32_t stride = 0;
  std::uint32_t first_column = 0;
  std::uint32_t columns = 0;
};

// out[r] = the model's columns of row r as they would be read from a file of the given precision
// (base/row_quantiser.h); fp32 and fp16 rows are copied. Columns from the row's size on, and those
// that are not kept, are zero in both.
struct QuantiseArgs {
  const float* in = nullptr;
  float* out = nullptr;
  const float* kept = nullptr;           // as `in`: 1 where a value is kept, else 0; null: all are
  const std::uint16_t* sizes = nullptr;  // by row
  std::uint32_t stride = 0;
  std::uint32_t first_column = 0;  // as in LossArgs
  std::uint32_t columns = 0;
  std::size_t num_users = 0;  // rows before it are users, the others items
  TablePrecision precision;
};

// The steps made and their losses; one record for each model side by side.
struct StepRecord {
  std::uint64_t steps = 0;
  std::uint64_t bad_step = 0;  // the first whose loss was not finite, counted from 1; 0: none
  double bad_loss = 0;
  double loss_sum = 0;  // with the regulariser
};

// The learning rate of a step as Adam applies it.
struct StepRate {
  float step_size = 0;          // lr / (1 - beta1^t)
  float denominator_scale = 1;  // 1 / sqrt(1 - beta2^t)
};

// One step of Adam (as LibTorch's, without weight decay) on the first sizes[r] columns of each row;
// the others never move. `l2` adds l2 * slots of row r in the batch * parameter to the gradient:
// the regulariser. Returns the sum over rows of slots * |row|^2 before the step.
struct AdamArgs {
  float* parameter = nullptr;
  float* moment1 = nullptr;
  float* moment2 = nullptr;
  const float* gradient = nullptr;
  std::uint32_t stride = 0;
  std::uint32_t first_column = 0;  // as in LossArgs
  std::uint32_t columns = 0;
  const std::uint16_t* sizes = nullptr;          // by row
  const std::uint64_t* batch_offsets = nullptr;  // slots of row r in the batch: [r], [r + 1];
                                                 // null: there is no regulariser
  float l2 = 0;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  const StepRate* rates = nullptr;     // by step
  const StepRecord* record = nullptr;  // whose `steps` are done
};

// The best `k` items of a block of users by full ranking. The score of a user and an
// item is the dot product of their vectors and, where there are hidden units, also the sum of
// max(user + item, 0) over the positive ones less that over the negative ones.
struct RankArgs {
  static constexpr std::uint32_t kUsers = 8;   // users of a block
  static constexpr std::uint32_t kItems = 32;  // items of a panel

  std::uint32_t width = 0;                     // of the dot product; depth: with the hidden units
  const float* users = nullptr;                // [depth][kUsers]: the block's vectors, transposed
  const float* user_norms = nullptr;           // kUsers
  const float* panels = nullptr;               // by panel [depth][kItems], items from long to short
  const float* panel_norms = nullptr;          // by panel: the longest vector in it
  const std::uint32_t* items = nullptr;        // by position in the panels: the item; ~0 is padding
  std::uint32_t num_panels = 0;                // the end of those to rank
  const std::uint32_t* const* seen = nullptr;  // by user: items left out, ascending
  const std::uint32_t* seen_count = nullptr;
  std::uint32_t k = 0;
  float* scores = nullptr;          // out, [kUsers][k], best first, ties by item
  std::uint32_t* ranked = nullptr;  // out, [kUsers][k]; ~0 where there are fewer than k items

  // With hidden units no panel is skipped by its norm. Their values follow those of the dot
  // product, the positive units' first; in panels they are negated.
  std::uint32_t num_positive = 0;
  std::uint32_t num_negative = 0;
  const float* item_sums = nullptr;  // by position in the panels: its positive units' values less
                                     // its negative ones'
  std::uint32_t first_panel = 0;     // not 0: continues the lists of a call that ended there
  bool continues = false;            // the lists of calls with other panels
};

struct NeuMfArgs;  // kernels/neumf.h

struct Kernels {
  const char* name;  // "plain", "avx2" or "avx512"
  void (*gather_rows)(const GatherArgs& args, std::size_t begin_row, std::size_t end_row);
  void (*loss_pairs)(const LossArgs& args, std::size_t begin_entry, std::size_t end_entry);
  void (*loss_pools)(const LossArgs& args, std::size_t begin_block, std::size_t end_block);
  double (*adam_rows)(const AdamArgs& args, std::size_t begin_row, std::size_t end_row);
  void (*rank_block)(const RankArgs& args);
  void (*activate_rows)(const ActivateArgs& args, std::size_t begin_row, std::size_t end_row);
  void (*activate_back_rows)(const ActivateBackArgs& args, std::size_t begin_row,
                             std::size_t end_row);
  void (*split_rows)(const SplitArgs& args, std::size_t begin_row, std::size_t end_row);
  void (*normalise_rows)(const NormaliseArgs& args, std::size_t begin_row, std::size_t end_row);
  void (*normalise_back_rows)(const NormaliseBackArgs& args, std::size_t begin_row,
                              std::size_t end_row);
  void (*quantise_rows)(const QuantiseArgs& args, std::size_t begin_row, std::size_t end_row);
  void (*neumf_pairs)(const NeuMfArgs& args, std::size_t begin_entry, std::size_t end_entry);
  void (*neumf_pools)(const NeuMfArgs& args, std::size_t begin_block, std::size_t end_block);
  // LossArgs::scores alone; losses and contributions are not written.
  void (*score_pairs)(const LossArgs& args, std::size_t begin_entry, std::size_t end_entry);
  void (*score_pools)(const LossArgs& args, std::size_t begin_block, std::size_t end_block);
};

// The best for this machine, found once; any thread may call.
const Kernels& kernels();

// Every set that this machine can run, the plain one first, for tests and benchmarks.
struct KernelList {
  const Kernels* const* begin;
  const Kernels* const* end;
};
KernelList runnable_kernels();

}  // namespace bet
