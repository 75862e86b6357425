#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "train/model_state.h"

namespace bet {

// The sizes of OptEmbed's two fields: users and items.
using FieldSizes = std::array<std::uint32_t, 2>;

// OptEmbed's gates (Lyu et al., CIKM'22): a row passes where its L1 norm, in units of the mean norm
// of its field, is above the threshold of the field, and only its first columns pass, as many as
// the size of its field. The gate is a step function, whose slope in the backward pass is the
// authors' long-tailed estimator. Thresholds follow plain SGD on the task's loss + alpha * the sum
// of exp(-threshold).
class OptEmbedGates final : public TableFilter {
 public:
  struct Options {
    double alpha = 0;
    double learning_rate = 0;  // of the thresholds
  };
  // For the table of a single model with `num_users` users and `tables` values in each column.
  OptEmbedGates(const ModelParameters& table, std::uint64_t num_users, std::uint32_t tables,
                const Options& options);

  at::Tensor filtered(const at::Tensor& values) override;
  std::vector<at::Tensor> parameters() override { return {leaf_}; }
  void update(std::span<const at::Tensor> gradients, const at::Tensor& loss) override;

  // What filtered() lets through from now on.
  void set_sizes(const FieldSizes& sizes);
  // The rows that pass, uint8 [rows], on the CPU.
  at::Tensor passing(const at::Tensor& values) const;

  at::Tensor thresholds() const { return thresholds_; }  // float [1, 2]

  // d(gate)/dx of a row whose norm is x above its threshold.
  static at::Tensor slope(const at::Tensor& x);

  // The norms of the rows, in units of the mean of their field, float [rows].
  static at::Tensor relative_norms(const at::Tensor& values, std::int64_t num_users);

 private:
  at::Tensor excess(const at::Tensor& values, const at::Tensor& thresholds) const;  // float [rows]

  Options options_;
  std::int64_t num_users_;
  std::int64_t num_items_;
  at::Tensor thresholds_;
  at::Tensor leaf_;     // the same memory, for autograd
  at::Tensor columns_;  // int16: the column of each value of a row
  at::Tensor sizes_;    // int16 [2]
};

// OptEmbed's evolution over the fields' sizes, from 1 to `largest`: 20 candidates drawn; in each of
// 30 generations the best 15 of all seen are parents, 10 children are mutated (each field redrawn
// with probability 0.1), 10 crossed. No candidate is scored twice.
class SizeEvolution {
 public:
  using Scored = std::pair<double, FieldSizes>;
  // Scores a candidate; returning nothing ends the evolution.
  using Score = std::function<std::optional<double>(const FieldSizes& sizes)>;

  SizeEvolution(std::uint32_t largest, std::uint64_t seed) : largest_(largest), seed_(seed) {}

  // Makes one more generation; the first one is drawn. False if `score` ended it.
  bool advance(const Score& score);
  bool is_over() const { return generation_ > kGenerations; }
  std::uint32_t generation() const { return generation_; }

  // All candidates scored so far, best first, ties by size.
  const std::vector<Scored>& ranking() const { return ranking_; }
  // Continues after `generation` generations.
  void restore(std::uint32_t generation, std::vector<Scored> ranking);

  static constexpr std::uint32_t kGenerations = 30;

 private:
  std::vector<FieldSizes> children() const;

  std::uint32_t largest_;
  std::uint64_t seed_;
  std::uint32_t generation_ = 0;
  std::vector<Scored> ranking_;
};

}  // namespace bet
