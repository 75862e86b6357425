#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bet/model.h"
#include "ids.h"

namespace bet::python {

// What an unknown user gets.
enum class MissingUser { kRaise, kEmpty, kPopular };

// The items that an answer may have, as Python gives them. `only` and `exclude` are None, a list of
// ids, or an ItemSet, which is looked up once for many calls.
struct FilterArguments {
  pybind11::object only, exclude;
  std::optional<float> min_score;
  bool include_seen = false;
};

// Ids and scores: of one answer, [items], or of many, [users, k].
using Answer = std::pair<pybind11::array, pybind11::array_t<float>>;

// A model file as Python sees it. Any number of threads may use it at once; what takes longer than
// a lookup is done without the GIL.
class OpenedModel {
 public:
  OpenedModel(const std::string& path, Verify verify);

  const Model& model() const { return *model_; }
  const std::shared_ptr<const Model>& shared() const { return model_; }
  const std::string& path() const { return path_; }
  IdKind user_kind() const { return kind_of(users_, true); }
  IdKind item_kind() const { return kind_of(items_, false); }

  Answer recommend(pybind11::handle user, std::size_t k, const FilterArguments& filter,
                   MissingUser missing) const;
  // What is missing is -1 or None, and NaN.
  Answer recommend_many(pybind11::handle users, std::size_t k, const FilterArguments& filter,
                        MissingUser missing, std::size_t threads) const;
  Answer recommend_rows(std::uint32_t first, std::uint32_t count, std::size_t k,
                        const FilterArguments& filter, std::size_t threads) const;
  Answer recommend_for(pybind11::handle items, std::size_t k, const FilterArguments& filter,
                       bool ignore_unknown) const;
  Answer similar(pybind11::handle item, std::size_t k, const FilterArguments& filter) const;
  Answer popular(std::size_t k, const FilterArguments& filter) const;

  pybind11::array_t<float> scores(pybind11::handle user, pybind11::handle items) const;
  pybind11::array seen(pybind11::handle user) const;
  pybind11::array user_ids() const;
  pybind11::array item_ids() const;

 private:
  struct Side {
    std::once_flag once;
    IdKind kind = IdKind::kText;
  };
  // Looks at all ids of the side when it is first asked.
  IdKind kind_of(Side& side, bool of_users) const;
  Answer answer_of(const std::vector<ScoredItem>& items) const;
  Answer rows_answer(const std::vector<std::optional<std::uint32_t>>& rows, std::size_t k,
                     const ItemFilter& filter, const std::vector<ScoredItem>& for_unknown,
                     std::size_t threads) const;

  std::string path_;
  std::shared_ptr<const Model> model_;
  mutable Side users_, items_;
};

// The filter of a call; looks the items up. Must be destroyed with the GIL held.
class CallFilter {
 public:
  CallFilter(const OpenedModel& model, const FilterArguments& arguments);
  CallFilter(const CallFilter&) = delete;
  CallFilter& operator=(const CallFilter&) = delete;

  const ItemFilter& get() const { return filter_; }

 private:
  const ItemSet* set_of(const OpenedModel& model, pybind11::handle items,
                        std::optional<ItemSet>& own);

  pybind11::object only_object_, exclude_object_;  // keep the sets that were given
  std::optional<ItemSet> only_, exclude_;
  ItemFilter filter_;
};

}  // namespace bet::python
