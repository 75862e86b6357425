#pragma once

#include <cstddef>
#include <cstdint>

// The hot loops, on plain pointers and a range of rows. They know no threads: callers run them over
// disjoint ranges. Every kernel exists for several instruction sets; kernels() gives the best that
// this machine has.
//
// A table is row-major: row r begins at r * stride floats, stride is row_stride(width), columns
// from width to stride are zero. Tables start on 64-byte boundaries.

namespace bet {

// Floats from one row of a table to the next: rows of a few columns share a cache line, wider ones
// begin on their own.
constexpr std::uint32_t row_stride(std::uint32_t width) {
  if (width <= 8) return 8;
  return (width + 15) / 16 * 16;
}

// Entries behind the last one that must be readable and hold valid columns: rows are asked for
// ahead.
constexpr std::size_t kColumnSlack = 16;

// out[r] = base_scale[r] * base[r] + sum_scale[r] * sum over the entries e of row r of
//          weight(e) * in[columns[e]]
// This one product is a layer of propagation and, with the batch's pairs as entries, the gradient
// of the BPR loss.
struct GatherArgs {
  const std::uint64_t* offsets = nullptr;  // entries of row r: from offsets[r - first_row]
  std::size_t first_row = 0;
  const std::uint32_t* columns = nullptr;      // by entry, and kColumnSlack more
  const float* entry_weight = nullptr;         // by entry; or
  const float* column_weight = nullptr;        // by column; or neither: all one
  const float* in = nullptr;                   // fp32 rows to gather; or
  const std::uint16_t* in_bf16 = nullptr;      // bfloat16 rows
  const float* base = nullptr;                 // may be null: nothing is added
  const float* base_scale = nullptr;           // by row
  const std::uint32_t* base_needed = nullptr;  // by row; rows of 0 have a zero base. null: none
  const float* sum_scale = nullptr;            // by row; null: all one
  const std::uint32_t* needed = nullptr;       // by row; rows of 0 are not written. null: all are
  float* out = nullptr;                        // fp32 rows to write; or
  std::uint16_t* out_bf16 = nullptr;           // bfloat16 rows
  std::uint32_t stride = 0;
  bool past_cache = false;  // the fp32 result is too large for the caches: write it past them
};

// The BPR terms of triples (u, i, j) over rows of `vectors`.
struct BprArgs {
  const float* vectors = nullptr;
  std::uint32_t stride = 0;
  const std::uint32_t* users = nullptr;  // rows, by triple
  const std::uint32_t* positives = nullptr;
  const std::uint32_t* negatives = nullptr;
  float* loss = nullptr;   // softplus(score_neg - score_pos), by triple
  float* slope = nullptr;  // d loss / d (score_pos - score_neg), by triple
};

// One step of Adam (as LibTorch's, without weight decay) on the first sizes[r] columns of each row;
// the others never move. `l2` adds l2 * row_count[r] * parameter to the gradient: the regulariser
// over the rows of a batch. Returns the sum of row_count[r] * |row|^2 before the step.
struct AdamArgs {
  float* parameter = nullptr;
  float* moment1 = nullptr;
  float* moment2 = nullptr;
  const float* gradient = nullptr;
  std::uint32_t stride = 0;
  const std::uint16_t* sizes = nullptr;      // by row
  const std::uint32_t* row_count = nullptr;  // by row; null: no regulariser
  float l2 = 0;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float step_size = 0;          // lr / (1 - beta1^t)
  float denominator_scale = 1;  // 1 / sqrt(1 - beta2^t)
  float epsilon = 1e-8F;
};

// Full ranking of a block of users over all items, kept to the best `k`.
struct RankArgs {
  static constexpr std::uint32_t kUsers = 8;   // users of a block
  static constexpr std::uint32_t kItems = 32;  // items of a panel

  std::uint32_t width = 0;
  const float* users = nullptr;          // [width][kUsers]: the block's vectors, transposed
  const float* user_norms = nullptr;     // kUsers
  const float* panels = nullptr;         // by panel [width][kItems], items from long to short
  const float* panel_norms = nullptr;    // by panel: the longest vector in it
  const std::uint32_t* items = nullptr;  // by place in the panels: the item; ~0 is padding
  std::uint32_t num_panels = 0;
  const std::uint32_t* const* seen = nullptr;  // by user: items left out, ascending
  const std::uint32_t* seen_count = nullptr;
  std::uint32_t k = 0;
  float* scores = nullptr;          // out, [kUsers][k], best first, ties by item
  std::uint32_t* ranked = nullptr;  // out, [kUsers][k]; ~0 where there are fewer than k items
};

struct Kernels {
  const char* name;  // "plain", "avx2" or "avx512"
  void (*gather_rows)(const GatherArgs& args, std::size_t begin_row, std::size_t end_row);
  void (*bpr_terms)(const BprArgs& args, std::size_t begin_triple, std::size_t end_triple);
  double (*adam_rows)(const AdamArgs& args, std::size_t begin_row, std::size_t end_row);
  void (*rank_block)(const RankArgs& args);
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
