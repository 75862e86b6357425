#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/batch_draw.h"
#include "kernels/kernels.h"
#include "kernels/neumf.h"

// The kernels' CUDA twins. They take the arguments of kernels/kernels.h with pointers to device
// memory, run on one stream and return before they are done; the same inputs give the same bits (no
// floating-point atomics). A launch that fails throws. No LibTorch in here.

struct CUstream_st;

namespace bet::cuda {

using Stream = CUstream_st*;  // cudaStream_t

void gather_rows(const GatherArgs& args, std::size_t num_rows, Stream stream);

// NGCF's passes over rows: activate_rows, activate_back_rows and split_rows.
void run_rows(const ActivateArgs& args, std::size_t num_rows, Stream stream);
void run_rows(const ActivateBackArgs& args, std::size_t num_rows, Stream stream);
void run_rows(const SplitArgs& args, std::size_t num_rows, Stream stream);

// The vectors' lengths, for cosines: normalise_rows and normalise_back_rows.
void run_rows(const NormaliseArgs& args, std::size_t num_rows, Stream stream);
void run_rows(const NormaliseBackArgs& args, std::size_t num_rows, Stream stream);

// Rows as they will be stored: quantise_rows.
void run_rows(const QuantiseArgs& args, std::size_t num_rows, Stream stream);

void draw_batch(const DrawArgs& args, Stream stream);

// Groups the slots of a batch by row, each row's in ascending order.
struct GroupArgs {
  const std::uint32_t* rows = nullptr;     // by slot
  const std::uint32_t* numbers = nullptr;  // 0, 1, 2, ... by slot
  std::uint32_t num_slots = 0;
  std::uint32_t num_rows = 0;
  std::uint64_t* offsets = nullptr;  // out: [num_rows + 1]
  std::uint32_t* slots = nullptr;    // out: [num_slots + kColumnSlack]
  std::uint8_t* touched = nullptr;   // out: [num_rows], whether it has a slot
};
// Bytes of `scratch` that group_slots needs; on a 256-byte boundary.
std::size_t group_scratch_bytes(std::uint32_t num_slots);
void group_slots(const GroupArgs& args, void* scratch, std::size_t scratch_bytes, Stream stream);

// The loss terms of a batch and their gradients. `scratch` has terms_scratch_bytes(args) bytes of
// device memory, on a 16-byte boundary; it may be null where that is 0.
std::size_t terms_scratch_bytes(const LossArgs& args);
void run_terms(const LossArgs& args, void* scratch, Stream stream);
std::size_t terms_scratch_bytes(const NeuMfArgs& args);
void run_terms(const NeuMfArgs& args, void* scratch, Stream stream);

// *out = the mean of `count` floats, summed in double in a fixed order.
void mean(const float* values, std::size_t count, float* out, Stream stream);

// Partial sums of adam_rows; finish_step adds them.
constexpr std::size_t kAdamParts = 1024;
void adam_rows(const AdamArgs& args, std::size_t num_rows, double* parts, Stream stream);

// Adds a step of loss *loss + squares_scale * (the sum of `parts`) to *record.
void finish_step(StepRecord* record, const float* loss, const double* parts, double squares_scale,
                 Stream stream);

// scores[u][i] += the sum of max(user + item, 0) over the positive hidden units less that over the
// negative ones, which follow them.
struct HiddenScoreArgs {
  const float* users = nullptr;  // [num_users][units]
  const float* items = nullptr;  // [units][num_items]
  std::uint32_t num_users = 0;
  std::uint32_t num_items = 0;
  std::uint32_t num_positive = 0;
  std::uint32_t num_negative = 0;
  float* scores = nullptr;  // [num_users][num_items]
};
void add_hidden_scores(const HiddenScoreArgs& args, Stream stream);

// The best k of each of `count` users by their rows of `scores`, higher first, then lower items.
struct TopArgs {
  const float* scores = nullptr;  // [count][num_items]
  std::uint32_t num_items = 0;
  const std::uint32_t* users = nullptr;  // by row of scores
  std::uint32_t count = 0;
  const std::uint64_t* offsets = nullptr;  // of the graph: its neighbours are left out
  const std::uint32_t* columns = nullptr;
  std::uint32_t num_users = 0;
  std::uint32_t k = 0;              // at most kMostTop
  std::uint32_t* ranked = nullptr;  // out: [count][k] items; ~0 where there are fewer than k; or
  std::uint32_t* hits =
      nullptr;  // out: by user, bit p is set if the item at position p is held out
  const std::uint64_t* held_offsets = nullptr;  // held-out items of the c-th user: [c], [c + 1]
  const std::uint32_t* held_items = nullptr;    // ascending for each
};
constexpr std::uint32_t kMostTop = 256;
void top_items(const TopArgs& args, Stream stream);

}  // namespace bet::cuda
