#include "opened_model.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/integer_text.h"

namespace py = pybind11;

namespace bet::python {
namespace {

constexpr float kNoScore = std::numeric_limits<float>::quiet_NaN();

// work(), without the GIL.
template <typename Work>
auto unlocked(const Work& work) {
  const py::gil_scoped_release release;
  return work();
}

}  // namespace

CallFilter::CallFilter(const OpenedModel& model, const FilterArguments& arguments)
    : only_object_(arguments.only), exclude_object_(arguments.exclude) {
  filter_.only = set_of(model, only_object_, only_);
  filter_.exclude = set_of(model, exclude_object_, exclude_);
  if (arguments.min_score) filter_.min_score = *arguments.min_score;
  if (arguments.include_seen) filter_.seen = Seen::kKeep;
}

const ItemSet* CallFilter::set_of(const OpenedModel& model, py::handle items,
                                  std::optional<ItemSet>& own) {
  if (items.is_none()) return nullptr;
  if (py::isinstance<ItemSet>(items)) return items.cast<const ItemSet*>();
  own = model.model().item_set(IdTexts(items).views());
  return &*own;
}

OpenedModel::OpenedModel(const std::string& path, Verify verify)
    : path_(path),
      model_(unlocked([&] { return std::make_shared<const Model>(Model::open(path, verify)); })) {}

// The ids of a file are texts. They were integers if all of them are integers as these are usually
// written, unless the file says that they were given as texts (docs/format.md).
IdKind OpenedModel::kind_of(Side& side, bool of_users) const {
  std::call_once(side.once, [&] {
    const Model::Fact* const fact = model_->fact("ids.text");
    const auto* const texts = fact == nullptr ? nullptr : std::get_if<std::string>(fact);
    if (texts != nullptr && texts->find(of_users ? "users" : "items") != std::string::npos) return;
    const std::uint32_t count = of_users ? model_->num_users() : model_->num_items();
    for (std::uint32_t row = 0; row < count; ++row) {
      if (!integer_of(of_users ? model_->user_id(row) : model_->item_id(row))) return;
    }
    side.kind = IdKind::kInteger;
  });
  return side.kind;
}

Answer OpenedModel::answer_of(const std::vector<ScoredItem>& items) const {
  const auto count = static_cast<py::ssize_t>(items.size());
  IdArray ids({count}, item_kind());
  py::array_t<float> scores(count);
  float* const out = scores.mutable_data();
  for (std::size_t i = 0; i < items.size(); ++i) {
    ids.set(i, items[i].item);
    out[i] = items[i].score;
  }
  return {ids.get(), scores};
}

Answer OpenedModel::recommend(py::handle user, std::size_t k, const FilterArguments& arguments,
                              MissingUser missing) const {
  const std::string id = id_text(user);
  const CallFilter filter(*this, arguments);
  return answer_of(unlocked([&]() -> std::vector<ScoredItem> {
    if (missing == MissingUser::kRaise || model_->has_user(id)) {
      return model_->recommend(id, k, filter.get());
    }
    if (missing == MissingUser::kEmpty) return {};
    return model_->popular_items(k, filter.get());
  }));
}

Answer OpenedModel::rows_answer(const std::vector<std::optional<std::uint32_t>>& rows,
                                std::size_t k, const ItemFilter& filter,
                                const std::vector<ScoredItem>& for_unknown,
                                std::size_t threads) const {
  const std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(rows.size()),
                                          static_cast<py::ssize_t>(k)};
  const IdKind kind = item_kind();
  IdArray ids(shape, kind);
  py::array_t<float> scores(shape);
  float* const out = scores.mutable_data();
  std::vector<ScoredItem> texts(kind == IdKind::kText ? rows.size() * k : 0);
  const auto put = [&](std::size_t at, const std::vector<ScoredItem>& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      out[at * k + i] = items[i].score;
      if (kind == IdKind::kInteger) {
        ids.set(at * k + i, items[i].item);
      } else {
        texts[at * k + i] = items[i];
      }
    }
    std::fill(out + at * k + items.size(), out + (at + 1) * k, kNoScore);
    if (kind == IdKind::kInteger) ids.fill(at * k + items.size(), (at + 1) * k);
  };
  unlocked([&] {
    std::vector<std::uint32_t> known;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i]) {
        known.push_back(*rows[i]);
        places.push_back(i);
      } else {
        put(i, for_unknown);
      }
    }
    model_->recommend_rows(
        known, k, filter,
        [&](std::size_t i, const std::vector<ScoredItem>& items) { put(places[i], items); },
        threads);
  });
  for (std::size_t i = 0; i < texts.size(); ++i) {  // making Python's strings takes the GIL
    if (texts[i].item.data() == nullptr) {
      ids.fill(i, i + 1);
    } else {
      ids.set(i, texts[i].item);
    }
  }
  return {ids.get(), scores};
}

Answer OpenedModel::recommend_many(py::handle users, std::size_t k,
                                   const FilterArguments& arguments, MissingUser missing,
                                   std::size_t threads) const {
  const IdTexts ids(users);
  std::vector<std::optional<std::uint32_t>> rows;
  rows.reserve(ids.views().size());
  bool any_missing = false;
  for (const std::string_view id : ids.views()) {
    rows.push_back(model_->user_row(id));
    any_missing = any_missing || !rows.back();
    if (!rows.back() && missing == MissingUser::kRaise) {
      fail_as(ErrorKind::kNotFound, "unknown user ", in_quotes(id));
    }
  }
  const CallFilter filter(*this, arguments);
  const std::size_t most = std::min<std::size_t>(k, model_->num_items());
  std::vector<ScoredItem> popular;
  if (any_missing && missing == MissingUser::kPopular) {
    popular = unlocked([&] { return model_->popular_items(most, filter.get()); });
  }
  return rows_answer(rows, most, filter.get(), popular, threads);
}

Answer OpenedModel::recommend_rows(std::uint32_t first, std::uint32_t count, std::size_t k,
                                   const FilterArguments& arguments, std::size_t threads) const {
  BET_CHECK(first <= model_->num_users() && count <= model_->num_users() - first, "users ", first,
            " to ", std::uint64_t{first} + count, ": there are ", model_->num_users());
  std::vector<std::optional<std::uint32_t>> rows(count);
  for (std::uint32_t i = 0; i < count; ++i) rows[i] = first + i;
  const CallFilter filter(*this, arguments);
  return rows_answer(rows, std::min<std::size_t>(k, model_->num_items()), filter.get(), {},
                     threads);
}

Answer OpenedModel::recommend_for(py::handle items, std::size_t k, const FilterArguments& arguments,
                                  bool ignore_unknown) const {
  const IdTexts ids(items);
  const CallFilter filter(*this, arguments);
  return answer_of(unlocked([&] {
    if (!ignore_unknown) return model_->recommend_for_items(ids.views(), k, filter.get());
    std::vector<std::string_view> unknown;
    return model_->recommend_for_known_items(ids.views(), k, unknown, filter.get());
  }));
}

Answer OpenedModel::similar(py::handle item, std::size_t k,
                            const FilterArguments& arguments) const {
  const std::string id = id_text(item);
  const CallFilter filter(*this, arguments);
  return answer_of(unlocked([&] { return model_->similar_items(id, k, filter.get()); }));
}

Answer OpenedModel::popular(std::size_t k, const FilterArguments& arguments) const {
  const CallFilter filter(*this, arguments);
  return answer_of(unlocked([&] { return model_->popular_items(k, filter.get()); }));
}

py::array_t<float> OpenedModel::scores(py::handle user, py::handle items) const {
  const std::string id = id_text(user);
  const IdTexts ids(items);
  const std::vector<float> values = unlocked([&] { return model_->scores(id, ids.views()); });
  return py::array_t<float>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::array OpenedModel::seen(py::handle user) const {
  const std::vector<std::string_view> items = model_->seen_items(id_text(user));
  IdArray ids({static_cast<py::ssize_t>(items.size())}, item_kind());
  for (std::size_t i = 0; i < items.size(); ++i) ids.set(i, items[i]);
  return ids.get();
}

py::array OpenedModel::user_ids() const {
  IdArray ids({static_cast<py::ssize_t>(model_->num_users())}, user_kind());
  for (std::uint32_t row = 0; row < model_->num_users(); ++row) ids.set(row, model_->user_id(row));
  return ids.get();
}

py::array OpenedModel::item_ids() const {
  IdArray ids({static_cast<py::ssize_t>(model_->num_items())}, item_kind());
  for (std::uint32_t row = 0; row < model_->num_items(); ++row) ids.set(row, model_->item_id(row));
  return ids.get();
}

}  // namespace bet::python
