#include "model/summed_terms.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "model/cpu_kernels.h"

namespace bet {
namespace {

// Scores that are summed at once: enough for the network's bandwidth, and little memory.
constexpr std::size_t kScoresAtOnce = std::size_t{1} << 19;

// Scores of some entries, and their sum on its way.
class ScoredEntries {
 public:
  // The entries [begin, end) of the batch.
  void start(const LossArgs& args, std::size_t begin, std::size_t end, RankGroup& ranks) {
    const std::size_t count = end - begin;
    begin_ = begin;
    end_ = end;
    args_ = args;
    args_.first_scored = begin;
    // The positives' scores and the negatives', which the kernels have for whole tiles.
    const std::size_t tiles = (count + kPool - 1) / kPool * kPool;
    const std::size_t num_scores = args.pool == 1 ? count : count + tiles * args.pool;
    if (memory_.size() < num_scores) memory_.resize(num_scores);
    args_.positive_scores = memory_.data();
    args_.scores = args.pool == 1 ? memory_.data() : memory_.data() + count;
    cpu::score_terms(args_, begin, end);
    sum_ = ranks.start_sum(std::span(memory_.data(), num_scores));
  }

  // Losses and contributions of the entries, once their scores are summed.
  void finish() {
    sum_->wait();
    sum_.reset();
    cpu::run_terms(args_, begin_, end_);
  }

 private:
  LossArgs args_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::vector<float> memory_;
  std::unique_ptr<RankGroup::Sum> sum_;  // behind the memory: it ends before that is freed
};

}  // namespace

void run_summed_terms(const LossArgs& args, RankGroup& ranks) {
  const std::size_t per_entry = args.pool == 1 ? 1 : 1 + std::size_t{args.pool};
  // Whole blocks.
  const std::size_t at_once =
      std::max<std::size_t>(1, kScoresAtOnce / per_entry / args.pool) * args.pool;
  std::array<ScoredEntries, 2> parts;
  const auto start = [&](std::size_t index) {
    const std::size_t begin = index * at_once;
    parts[index % 2].start(args, begin, std::min<std::size_t>(begin + at_once, args.size), ranks);
  };
  const std::size_t count = (args.size + at_once - 1) / at_once;
  start(0);
  for (std::size_t index = 0; index < count; ++index) {
    if (index + 1 < count) start(index + 1);
    parts[index % 2].finish();
  }
}

}  // namespace bet
