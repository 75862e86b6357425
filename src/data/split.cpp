#include "data/split.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace bet {
namespace {

// Moves a random choice of `count` items to the front of the row.
void choose_to_front(std::span<ItemId> row, std::size_t count, RandomStream& random) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto rest = static_cast<std::uint32_t>(row.size() - i);
    std::swap(row[i], row[i + random.below(rest)]);
  }
}

// The ends of the train and the validation part of a row.
struct Cuts {
  std::size_t train;
  std::size_t validation;
};

Cuts half_and_quarters(std::size_t n) { return {(n + 1) / 2, (3 * n + 2) / 4}; }

Cuts cut_at_random(std::span<ItemId> row, RandomStream& random) {
  const Cuts cuts = half_and_quarters(row.size());
  choose_to_front(row, cuts.validation, random);
  return cuts;
}

Cuts cut_by_time(std::span<ItemId> row, std::span<const double> times) {
  std::vector<std::pair<double, ItemId>> ordered;
  ordered.reserve(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) ordered.emplace_back(times[i], row[i]);
  std::sort(ordered.begin(), ordered.end());
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = ordered[i].second;
  return half_and_quarters(row.size());
}

// The marks of the row begin at in_test[first].
Cuts cut_as_given(std::span<ItemId> row, const std::vector<bool>& in_test, std::uint64_t first,
                  RandomStream& random) {
  std::vector<ItemId> test;
  std::size_t not_test = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (in_test[first + i]) {
      test.push_back(row[i]);
    } else {
      row[not_test++] = row[i];
    }
  }
  std::copy(test.begin(), test.end(), row.begin() + static_cast<std::ptrdiff_t>(not_test));
  const std::size_t validation = (not_test + 5) / 10;  // half-up
  choose_to_front(row.first(not_test), not_test - validation, random);
  return {not_test - validation, not_test};
}

}  // namespace

SplitKind parse_split_kind(std::string_view name) {
  for (const SplitKind kind : {SplitKind::kRandom, SplitKind::kGiven, SplitKind::kTime}) {
    if (name == split_name(kind)) return kind;
  }
  fail("unknown split ", in_quotes(name), "; it is random, given or time");
}

std::string_view split_name(SplitKind kind) {
  switch (kind) {
    case SplitKind::kRandom:
      return "random";
    case SplitKind::kGiven:
      return "given";
    case SplitKind::kTime:
      return "time";
  }
  return "";
}

Split::Counts Split::counts() const {
  Counts counts;
  for (UserId user = 0; user < num_users(); ++user) {
    counts.train += train(user).size();
    counts.validation += validation(user).size();
    counts.test += test(user).size();
  }
  return counts;
}

Split make_split(Interactions&& interactions, std::uint32_t num_items, SplitKind kind,
                 std::uint64_t seed) {
  BET_CHECK(kind != SplitKind::kGiven || !interactions.in_test.empty(),
            "--split given needs data with a test part (a folder with train.txt and test.txt)");
  BET_CHECK(kind != SplitKind::kTime || interactions.times.size() == interactions.num_entries(),
            "--split time needs data with a time column");
  // What the split does not keep, the marks and times, is freed with `taken`.
  Interactions taken = std::exchange(interactions, {});
  Split split;
  split.num_items_ = num_items;
  split.items_ = std::move(taken.columns);
  split.begin_ = std::move(taken.offsets);
  for (UserId user = 0; user < split.num_users(); ++user) {
    const std::uint64_t begin = split.begin_[user];
    const std::span<ItemId> row =
        split.items_.span().subspan(begin, split.begin_[user + 1] - begin);
    RandomStream random(seed, "split", user);
    Cuts cuts{};
    if (kind == SplitKind::kRandom) cuts = cut_at_random(row, random);
    if (kind == SplitKind::kTime) {
      cuts = cut_by_time(row, taken.times.span().subspan(begin, row.size()));
    }
    if (kind == SplitKind::kGiven) cuts = cut_as_given(row, taken.in_test, begin, random);
    const auto at = [&](std::size_t i) { return row.begin() + static_cast<std::ptrdiff_t>(i); };
    std::sort(row.begin(), at(cuts.train));
    std::sort(at(cuts.train), at(cuts.validation));
    std::sort(at(cuts.validation), row.end());
    split.validation_begin_.push_back(begin + cuts.train);
    split.test_begin_.push_back(begin + cuts.validation);
  }
  return split;
}

Split denser_split(const Split& split, std::uint64_t seed, std::uint32_t fold) {
  BET_CHECK(fold < kFolds, "fold ", fold, " of ", kFolds);
  Split denser;
  denser.num_items_ = split.num_items_;
  denser.items_.grow_to(split.items_.size());
  std::ranges::copy(split.items_.span(), denser.items_.data());
  denser.begin_ = split.begin_;
  denser.validation_begin_ = split.validation_begin_;
  denser.test_begin_ = split.test_begin_;
  for (UserId user = 0; user < split.num_users(); ++user) {
    const std::uint64_t begin = split.begin_[user];
    const std::span<ItemId> row =
        denser.items_.span().subspan(begin, split.test_begin_[user] - begin);
    const std::size_t train = split.train(user).size();
    const std::span<ItemId> validation = row.subspan(train);
    RandomStream random(seed, "denser split", user);
    // Dealt out in turn, from a random fold on: a third on average, also where a user has one or
    // two.
    const std::uint32_t first = random.below(kFolds);
    choose_to_front(validation, validation.size(), random);
    auto cut = row.end() - static_cast<std::ptrdiff_t>(validation.size());
    for (std::size_t i = 0; i < validation.size(); ++i) {
      if ((first + i) % kFolds != fold) std::swap(*cut++, validation[i]);
    }
    std::sort(row.begin(), cut);
    std::sort(cut, row.end());
    denser.validation_begin_[user] = begin + static_cast<std::uint64_t>(cut - row.begin());
  }
  return denser;
}

std::string split_note(const Dataset& dataset, SplitKind kind) {
  if (kind == SplitKind::kGiven || !dataset.has_test_part) return "";
  return str_cat("the data has a test part of its own (test.txt), which --split ", split_name(kind),
                 " does not use; --split given uses it");
}

Frequencies train_frequencies(const Split& split) {
  Frequencies counts;
  counts.items.resize(split.num_items(), 0);
  for (UserId user = 0; user < split.num_users(); ++user) {
    counts.users.push_back(static_cast<std::uint32_t>(split.train(user).size()));
    for (const ItemId item : split.train(user)) ++counts.items[item];
  }
  return counts;
}

}  // namespace bet
