#include "model/ranking_over_ranks.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "model/cpu_ranking.h"
#include "plan/column_slice.h"

namespace bet {
namespace {

// Floats of a block of vectors as it is sent.
constexpr std::size_t kBlock = std::size_t{1} << 22;

class RankingOverRanks {
 public:
  RankingOverRanks(const at::Tensor& vectors, const Scoring& scoring, const HeldOutItems& held,
                   const Graph& seen, std::uint32_t k)
      : vectors_(vectors),
        scoring_(scoring),
        ranks_(*scoring.ranks),
        held_(held),
        seen_(seen),
        k_(k),
        slice_{ranks_.rank(), ranks_.size()},
        width_(whole_width()),
        part_width_(slice_.largest_part_of(width_)),
        share_((held.users.size() + slice_.count - 1) / slice_.count) {}

  std::vector<std::uint32_t> run() {
    RankingByBlocks lists(width_, seen_, k_);
    add_own_users(lists);
    rank_all_items(lists);
    std::vector<std::uint32_t> own = hits_of_lists(lists.take(), held_, begin_of(slice_.index), k_);
    own.resize(share_);
    std::vector<std::uint32_t> all(share_ * slice_.count);
    ranks_.gather_to_all(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
    all.resize(held_.users.size());
    return all;
  }

 private:
  // Of the columns of all ranks.
  std::uint32_t whole_width() const {
    double width = scoring_.columns.width;
    ranks_.sum(std::span(&width, 1));
    const auto whole = static_cast<std::uint32_t>(width);
    BET_CHECK(slice_.part_of(whole) == scoring_.columns.width, "rank ", slice_.index, " has ",
              scoring_.columns.width, " of ", whole, " columns");
    return whole;
  }

  // Of the users with held-out items, those that rank r ranks: from begin_of(r) to begin_of(r + 1).
  std::size_t begin_of(std::uint32_t rank) const {
    return std::min(rank * share_, held_.users.size());
  }

  // This rank's columns of a node's vector.
  void put_part(std::size_t node, float* out) const {
    const float* const row = vectors_.data_ptr<float>() +
                             node * static_cast<std::size_t>(vectors_.size(1)) +
                             scoring_.columns.first;
    std::copy_n(row, scoring_.columns.width, out);
  }

  void add_own_users(RankingByBlocks& lists) const {
    constexpr std::size_t kUnit = RankingByBlocks::kUsersAtOnce;
    const std::size_t at_once =
        std::max<std::size_t>(1, kBlock / (slice_.count * part_width_) / kUnit) * kUnit;
    const std::size_t most = std::min(at_once, share_);
    std::vector<float> to(slice_.count * most * part_width_);
    std::vector<float> from(to.size());
    std::vector<float> rows(most * width_);
    for (std::size_t done = 0; done < share_; done += at_once) {
      const auto block_of = [&](std::uint32_t rank) {
        const std::size_t begin = std::min(begin_of(rank) + done, begin_of(rank + 1));
        return std::span(held_.users).subspan(begin, std::min(most, begin_of(rank + 1) - begin));
      };
      for (std::uint32_t rank = 0; rank < slice_.count; ++rank) {
        float* out = to.data() + rank * most * part_width_;
        for (const UserId user : block_of(rank)) {
          put_part(user, out);
          out += part_width_;
        }
      }
      ranks_.exchange(std::as_bytes(std::span(to)), std::as_writable_bytes(std::span(from)));
      join_rows(from.data(), most, width_, slice_.count, rows.data(), width_);
      lists.add_users(block_of(slice_.index), rows.data());
    }
  }

  void rank_all_items(RankingByBlocks& lists) const {
    const std::size_t at_once = std::max<std::size_t>(1, kBlock / (slice_.count * part_width_));
    const std::size_t most = std::min<std::size_t>(at_once, seen_.num_items);
    std::vector<float> own(most * part_width_);
    std::vector<float> all(slice_.count * own.size());
    std::vector<float> rows(most * width_);
    for (std::size_t first = 0; first < seen_.num_items; first += most) {
      const std::size_t count = std::min(most, seen_.num_items - first);
      for (std::size_t i = 0; i < count; ++i) {
        put_part(seen_.num_users + first + i, own.data() + i * part_width_);
      }
      ranks_.gather_to_all(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
      join_rows(all.data(), most, width_, slice_.count, rows.data(), width_);
      lists.rank_items(static_cast<ItemId>(first), static_cast<std::uint32_t>(count), rows.data());
    }
  }

  const at::Tensor& vectors_;
  const Scoring& scoring_;
  RankGroup& ranks_;
  const HeldOutItems& held_;
  const Graph& seen_;
  std::uint32_t k_;
  ColumnSlice slice_;
  std::uint32_t width_;
  std::uint32_t part_width_;  // of the widest slice
  std::size_t share_;         // users of a rank
};

}  // namespace

std::vector<std::uint32_t> top_hits_over_ranks(const at::Tensor& vectors, const Scoring& scoring,
                                               const HeldOutItems& held, const Graph& seen,
                                               std::uint32_t k) {
  BET_CHECK(scoring.num_hidden() == 0, "a ranking over ranks is by dot products alone");
  if (held.users.empty()) return {};
  return RankingOverRanks(vectors, scoring, held, seen, k).run();
}

}  // namespace bet
