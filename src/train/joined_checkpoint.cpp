#include "train/joined_checkpoint.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/kernels.h"
#include "train/checkpoint_file.h"

namespace bet {
namespace {

// Floats of a block of rows as it is sent.
constexpr std::size_t kBlock = std::size_t{1} << 20;

// Rank 0's text, on every rank.
std::string from_rank_0(RankGroup& ranks, std::string text) {
  std::uint64_t size = text.size();
  ranks.broadcast(std::as_writable_bytes(std::span(&size, 1)));
  text.resize(size);
  if (size > 0) ranks.broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

// What rank 0 does alone. Its first error stops it, and is thrown on every rank by settle().
class RankZero {
 public:
  explicit RankZero(RankGroup& ranks) : ranks_(ranks) {}

  void run(const std::function<void()>& work) {
    if (ranks_.rank() != 0 || !error_.empty()) return;
    try {
      work();
    } catch (const std::exception& error) {
      error_ = error.what();
    }
  }

  void settle() {
    const std::string error = from_rank_0(ranks_, error_);
    BET_CHECK(error.empty(), error);
  }

 private:
  RankGroup& ranks_;
  std::string error_;
};

// Rows of a table and what the ranks have of them, a block at a time.
class RowBlocks {
 public:
  RowBlocks(RankGroup& ranks, std::int64_t num_rows, std::uint32_t width)
      : ranks_(ranks),
        slice_{ranks.rank(), ranks.size()},
        width_(width),
        own_width_(slice_.part_of(width)),
        part_width_(slice_.largest_part_of(width)),
        num_rows_(static_cast<std::size_t>(num_rows)),
        at_once_(std::clamp<std::size_t>(kBlock / (slice_.count * part_width_), 1,
                                         std::max<std::size_t>(num_rows_, 1))),
        own_(at_once_ * part_width_) {
    if (slice_.index == 0) parts_.resize(own_.size() * slice_.count);
  }

  // Calls take(rows, number of them) on rank 0 for all blocks of whole rows, `stride` apart.
  template <typename Take>
  void join(const at::Tensor& own, std::size_t stride, const Take& take) {
    std::vector<float> rows(slice_.index == 0 ? at_once_ * stride : 0);
    for (std::size_t first = 0; first < num_rows_; first += at_once_) {
      const std::size_t count = std::min(at_once_, num_rows_ - first);
      over_own(own, first, count, [](float& part, float row) { part = row; });
      ranks_.gather(std::as_bytes(std::span(own_)), std::as_writable_bytes(std::span(parts_)));
      if (slice_.index != 0) continue;
      join_rows(parts_.data(), at_once_, width_, slice_.count, rows.data(), stride);
      take(std::span(rows).first(count * stride), first);
    }
  }

  // Fills `own` from the whole rows that give(rows, first) puts there on rank 0.
  template <typename Give>
  void split(const at::Tensor& own, std::size_t stride, const Give& give) {
    std::vector<float> rows(slice_.index == 0 ? at_once_ * stride : 0);
    for (std::size_t first = 0; first < num_rows_; first += at_once_) {
      const std::size_t count = std::min(at_once_, num_rows_ - first);
      if (slice_.index == 0) {
        give(std::span(rows).first(count * stride), first);
        split_rows(rows.data(), stride, at_once_, width_, slice_.count, parts_.data());
      }
      ranks_.scatter(std::as_bytes(std::span(parts_)), std::as_writable_bytes(std::span(own_)));
      over_own(own, first, count, [](float part, float& row) { row = part; });
    }
  }

 private:
  // Calls copy(value as it is sent, value of the table) for rows of this rank's table.
  template <typename Copy>
  void over_own(const at::Tensor& own, std::size_t first, std::size_t count, const Copy& copy) {
    const auto stride = static_cast<std::size_t>(own.size(1));
    for (std::size_t row = 0; row < count; ++row) {
      float* const values = own.data_ptr<float>() + (first + row) * stride;
      for (std::uint32_t c = 0; c < own_width_; ++c) copy(own_[row * part_width_ + c], values[c]);
    }
  }

  RankGroup& ranks_;
  ColumnSlice slice_;
  std::uint32_t width_;
  std::uint32_t own_width_;
  std::uint32_t part_width_;  // of the widest slice
  std::size_t num_rows_;
  std::size_t at_once_;
  std::vector<float> own_;    // [at_once, part_width]
  std::vector<float> parts_;  // on rank 0: of all ranks
};

}  // namespace

void write_joined_checkpoint(const Checkpoint& own, std::uint32_t width, RankGroup& ranks,
                             const std::filesystem::path& path) {
  const ColumnSlice slice{ranks.rank(), ranks.size()};
  const std::int64_t own_stride = row_stride(slice.part_of(width));
  const std::int64_t stride = row_stride(width);
  CheckpointHeader header{own.numbers, own.texts, {}};
  for (const auto& [name, tensor] : own.tensors) {
    BET_CHECK(tensor.is_cpu() && tensor.is_contiguous() && tensor.dim() == 2 &&
                  tensor.size(1) == own_stride,
              "tensor ", in_quotes(name), " has not the columns of rank ", slice.index, " of ",
              slice.count);
    header.tensors[name] = {tensor.size(0), stride};
  }
  RankZero zero(ranks);
  std::optional<CheckpointWriter> writer;
  zero.run([&] { writer.emplace(header, path); });
  for (const auto& [name, tensor] : own.tensors) {
    RowBlocks(ranks, tensor.size(0), width)
        .join(tensor, static_cast<std::size_t>(stride),
              [&](std::span<const float> rows, std::size_t /*first*/) {
                zero.run([&] { writer->write(rows); });
              });
  }
  zero.run([&] { writer->commit(); });
  zero.settle();
}

std::optional<Checkpoint> read_joined_checkpoint(std::uint32_t width, RankGroup& ranks,
                                                 const std::filesystem::path& path) {
  RankZero zero(ranks);
  std::optional<CheckpointReader> reader;
  std::string text;
  zero.run([&] {
    if (!std::filesystem::exists(path)) return;
    reader.emplace(path);
    text = reader->header().text();
  });
  zero.settle();
  text = from_rank_0(ranks, text);
  if (text.empty()) return std::nullopt;
  const CheckpointHeader header = CheckpointHeader::parse(text);
  const ColumnSlice slice{ranks.rank(), ranks.size()};
  const std::int64_t stride = row_stride(width);
  Checkpoint own{header.numbers, header.texts, {}};
  for (const auto& [name, shape] : header.tensors) {
    BET_CHECK(shape.columns == stride, path.string(),
              ": checkpoint of another plan: ", in_quotes(name), " has ", shape.columns,
              " columns, not ", stride);
    const at::Tensor tensor = at::zeros({shape.rows, row_stride(slice.part_of(width))}, at::kFloat);
    RowBlocks(ranks, shape.rows, width)
        .split(tensor, static_cast<std::size_t>(stride),
               [&](std::span<float> rows, std::size_t /*first*/) {
                 zero.run([&] { reader->read(rows); });
               });
    own.tensors[name] = tensor;
  }
  zero.settle();
  return own;
}

ModelParameters joined_parameters(const ModelParameters& own, const SizePlan& plan,
                                  RankGroup& ranks) {
  ModelParameters whole;
  if (ranks.rank() == 0) whole = zero_table(std::span(&plan, 1));
  const std::int64_t stride = row_stride(plan.width());
  RowBlocks(ranks, own.num_rows(), plan.width())
      .join(own.values, static_cast<std::size_t>(stride),
            [&](std::span<const float> rows, std::size_t first) {
              std::ranges::copy(
                  rows, whole.values.data_ptr<float>() + first * static_cast<std::size_t>(stride));
            });
  return whole;
}

}  // namespace bet
