#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/growable.h"
#include "data/dataset.h"

namespace bet {

enum class SplitKind {
  kRandom,  // per user at random: 50 % train, 25 % validation, 25 % test
  kGiven,   // the source's own test part; validation is a random tenth of its train part
  kTime,    // per user by time, earliest first: 50 % train, 25 % validation, 25 % test
};

// "random", "given" or "time"; throws on anything else.
SplitKind parse_split_kind(std::string_view name);
std::string_view split_name(SplitKind kind);

// The interactions of each user in three parts, each ascending by item. With kRandom and kTime a
// user's n items are cut after half-up(n/2) and half-up(3n/4): one item goes to train, two to train
// and validation (BET paper, Section 4.2). Immutable; any thread may read.
class Split {
 public:
  std::uint32_t num_users() const { return static_cast<std::uint32_t>(begin_.size() - 1); }
  std::uint32_t num_items() const { return num_items_; }

  std::span<const ItemId> train(UserId user) const {
    return range(begin_[user], validation_begin_[user]);
  }
  std::span<const ItemId> validation(UserId user) const {
    return range(validation_begin_[user], test_begin_[user]);
  }
  std::span<const ItemId> test(UserId user) const {
    return range(test_begin_[user], begin_[user + 1]);
  }
  // Train first, then validation: not ascending as a whole.
  std::span<const ItemId> train_and_validation(UserId user) const {
    return range(begin_[user], test_begin_[user]);
  }

  // Train, validation and test, in this order.
  std::span<const ItemId> all(UserId user) const { return range(begin_[user], begin_[user + 1]); }

  struct Counts {
    std::uint64_t train = 0;
    std::uint64_t validation = 0;
    std::uint64_t test = 0;
  };
  Counts counts() const;

 private:
  friend Split make_split(Interactions&& interactions, std::uint32_t num_items, SplitKind kind,
                          std::uint64_t seed);
  friend Split denser_split(const Split& split, std::uint64_t seed, std::uint32_t fold);

  std::span<const ItemId> range(std::uint64_t begin, std::uint64_t end) const {
    return items_.span().subspan(begin, end - begin);
  }

  std::uint32_t num_items_ = 0;
  Growable<ItemId> items_;
  std::vector<std::uint64_t> begin_;  // num_users + 1
  std::vector<std::uint64_t> validation_begin_;
  std::vector<std::uint64_t> test_begin_;
};

// Takes the interactions over and divides each row in place, so that they are held once only:
//   make_split(std::move(dataset.interactions), dataset.num_items(), kind, seed)
// The same interactions, kind and seed give the same split. Throws where kGiven has no test part or
// kTime no times, and then leaves the interactions as they were.
Split make_split(Interactions&& interactions, std::uint32_t num_items, SplitKind kind,
                 std::uint64_t seed);

// The same for a data set whose ids are not needed afterwards.
inline Split make_split(Dataset&& dataset, SplitKind kind, std::uint64_t seed) {
  return make_split(std::move(dataset.interactions), dataset.num_items(), kind, seed);
}

// The same interactions, with two thirds of each user's validation part, at random, in train: what
// is best for a model depends on how many interactions it is trained on, so that choices for one
// trained on train and validation are made here. Each of the three folds holds out another third;
// together they hold out all of it. Test stays as it is.
inline constexpr std::uint32_t kFolds = 3;
Split denser_split(const Split& split, std::uint64_t seed, std::uint32_t fold = 0);

// A note for the user where the data has a test part of its own that this kind of split does not
// use; else empty.
std::string split_note(const Dataset& dataset, SplitKind kind);

// How often each user and each item occurs in train (f_u and f_v in the BET paper).
struct Frequencies {
  std::vector<std::uint32_t> users;
  std::vector<std::uint32_t> items;
};
Frequencies train_frequencies(const Split& split);

}  // namespace bet
