#include <algorithm>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "bet/bet.h"
#include "bet/error.h"
#include "bet/model.h"

struct bet_model {
  bet::Model model;
};

struct bet_item_set {
  bet::ItemSet items;
  const bet_model* model;
};

namespace {

std::string& last_error() {
  thread_local std::string text;
  return text;
}

// A call that breaks the rules of bet.h.
struct BadCall {
  const char* text;
};

void need(bool good, const char* text) {
  if (!good) throw BadCall{text};
}

int failed(int code, const char* text) noexcept {
  try {
    last_error() = text;
  } catch (const std::bad_alloc&) {
    last_error().clear();
  }
  return code;
}

// Runs a call and turns exceptions into codes.
template <typename Call>
int guarded(const Call& call) noexcept {
  try {
    call();
    return BET_OK;
  } catch (const BadCall& error) {
    return failed(BET_BAD_CALL, error.text);
  } catch (const bet::Error& error) {
    return failed(error.kind() == bet::ErrorKind::kNotFound ? BET_NOT_FOUND : BET_FAILED,
                  error.what());
  } catch (const std::bad_alloc&) {
    return failed(BET_FAILED, "out of memory");
  } catch (const std::exception& error) {
    return failed(BET_FAILED, error.what());
  }
}

bet::Model::Seen seen_choice(int leave_out_seen) {
  return leave_out_seen != 0 ? bet::Model::Seen::kLeaveOut : bet::Model::Seen::kKeep;
}

// `null_text`: what is wrong where there is no filter.
bet::ItemFilter filter_of(const bet_model* model, const bet_filter* given, const char* null_text) {
  need(given != nullptr, null_text);
  need(given->size >= sizeof(bet_filter), "bet_filter: size is less than sizeof(bet_filter)");
  // A newer program may have members that this library does not know: they must say nothing.
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  need(std::all_of(bytes + sizeof(bet_filter), bytes + given->size,
                   [](unsigned char byte) { return byte == 0; }),
       "bet_filter: has members that this version of the library does not know");
  bet::ItemFilter filter;
  const auto items = [&](const bet_item_set* set) -> const bet::ItemSet* {
    if (set == nullptr) return nullptr;
    need(set->model == model, "bet_filter: a set of items of another model");
    return &set->items;
  };
  filter.only = items(given->only);
  filter.exclude = items(given->exclude);
  filter.seen = seen_choice(given->include_seen == 0 ? 1 : 0);
  if (given->has_min_score != 0) filter.min_score = given->min_score;
  return filter;
}

bet::ItemFilter filter_or_none(const bet_model* model, const bet_filter* given) {
  return given == nullptr ? bet::ItemFilter() : filter_of(model, given, "");
}

std::vector<std::string_view> texts(const char* const* list, size_t count,
                                    const char* null_inside) {
  std::vector<std::string_view> result;
  for (size_t i = 0; i < count; ++i) {
    need(list[i] != nullptr, null_inside);
    result.emplace_back(list[i]);
  }
  return result;
}

void hand_out(const std::vector<bet::ScoredItem>& from, bet_scored_item* items, size_t* count) {
  for (size_t i = 0; i < from.size(); ++i) {
    items[i] = {from[i].item.data(), from[i].item.size(), from[i].score};
  }
  *count = from.size();
}

void hand_out(const std::vector<float>& from, float* vector, size_t size) {
  need(vector != nullptr, "no buffer for a vector");
  need(size >= from.size(), "the buffer for a vector is too small: see bet_dimension");
  std::copy(from.begin(), from.end(), vector);
}

// Both forms of bet_recommend_for_known_items.
void recommend_known(const bet_model& model, const char* const* given, size_t num_given, size_t k,
                     const bet::ItemFilter& filter, bet_scored_item* items, size_t* count,
                     unsigned char* unknown) {
  need(num_given > 0, "bet_recommend_for_known_items: an empty list");
  const auto list =
      texts(given, num_given, "bet_recommend_for_known_items: a null pointer in the list");
  for (size_t i = 0; i < num_given; ++i) unknown[i] = model.model.has_item(list[i]) ? 0 : 1;
  std::vector<std::string_view> unknown_texts;
  hand_out(model.model.recommend_for_known_items(list, k, unknown_texts, filter), items, count);
}

}  // namespace

extern "C" {

const char* bet_error(void) { return last_error().c_str(); }

int bet_open(const char* path, bet_model** model) {
  return guarded([&] {
    need(path != nullptr && model != nullptr, "bet_open: a null pointer");
    *model = nullptr;
    *model = new bet_model{bet::Model::open(path)};
  });
}

int bet_open_bytes(const void* bytes, size_t size, bet_model** model) {
  return guarded([&] {
    need(bytes != nullptr && model != nullptr, "bet_open_bytes: a null pointer");
    *model = nullptr;
    *model = new bet_model{bet::Model::from_bytes({static_cast<const std::byte*>(bytes), size})};
  });
}

void bet_close(bet_model* model) { delete model; }

uint32_t bet_num_users(const bet_model* model) {
  return model == nullptr ? 0 : model->model.num_users();
}
uint32_t bet_num_items(const bet_model* model) {
  return model == nullptr ? 0 : model->model.num_items();
}
uint32_t bet_dimension(const bet_model* model) {
  return model == nullptr ? 0 : model->model.dimension();
}

int bet_recommend(const bet_model* model, const char* user, size_t k, int leave_out_seen,
                  bet_scored_item* items, size_t* count) {
  return guarded([&] {
    need(model != nullptr && user != nullptr && items != nullptr && count != nullptr,
         "bet_recommend: a null pointer");
    hand_out(model->model.recommend(user, k, seen_choice(leave_out_seen)), items, count);
  });
}

int bet_recommend_for_items(const bet_model* model, const char* const* given, size_t num_given,
                            size_t k, bet_scored_item* items, size_t* count) {
  return guarded([&] {
    need(model != nullptr && given != nullptr && items != nullptr && count != nullptr,
         "bet_recommend_for_items: a null pointer");
    need(num_given > 0, "bet_recommend_for_items: an empty list");
    const auto list =
        texts(given, num_given, "bet_recommend_for_items: a null pointer in the list");
    hand_out(model->model.recommend_for_items(list, k), items, count);
  });
}

int bet_recommend_for_known_items(const bet_model* model, const char* const* given,
                                  size_t num_given, size_t k, bet_scored_item* items, size_t* count,
                                  unsigned char* unknown) {
  return guarded([&] {
    need(model != nullptr && given != nullptr && items != nullptr && count != nullptr &&
             unknown != nullptr,
         "bet_recommend_for_known_items: a null pointer");
    recommend_known(*model, given, num_given, k, {}, items, count, unknown);
  });
}

int bet_recommend_for_known_items_filtered(const bet_model* model, const char* const* given,
                                           size_t num_given, size_t k, const bet_filter* filter,
                                           bet_scored_item* items, size_t* count,
                                           unsigned char* unknown) {
  return guarded([&] {
    constexpr const char* kNull = "bet_recommend_for_known_items_filtered: a null pointer";
    need(model != nullptr && given != nullptr && items != nullptr && count != nullptr &&
             unknown != nullptr,
         kNull);
    recommend_known(*model, given, num_given, k, filter_of(model, filter, kNull), items, count,
                    unknown);
  });
}

int bet_item_set_create(const bet_model* model, const char* const* items, size_t num_items,
                        int often, bet_item_set** set) {
  return guarded([&] {
    need(model != nullptr && set != nullptr && (items != nullptr || num_items == 0),
         "bet_item_set_create: a null pointer");
    *set = nullptr;
    const auto list = texts(items, num_items, "bet_item_set_create: a null pointer in the list");
    const auto use = often != 0 ? bet::Model::Use::kOften : bet::Model::Use::kOnce;
    *set = new bet_item_set{model->model.item_set(list, use), model};
  });
}

void bet_item_set_free(bet_item_set* set) { delete set; }

int bet_popular_items(const bet_model* model, size_t k, const bet_filter* filter,
                      bet_scored_item* items, size_t* count) {
  return guarded([&] {
    need(model != nullptr && items != nullptr && count != nullptr,
         "bet_popular_items: a null pointer");
    hand_out(model->model.popular_items(k, filter_or_none(model, filter)), items, count);
  });
}

int bet_recommend_rows(const bet_model* model, uint32_t first, uint32_t num_users, size_t k,
                       const bet_filter* filter, size_t threads, bet_scored_item* items,
                       size_t* counts) {
  return guarded([&] {
    need(model != nullptr && items != nullptr && counts != nullptr,
         "bet_recommend_rows: a null pointer");
    const uint32_t all = model->model.num_users();
    need(first <= all && num_users <= all - first, "bet_recommend_rows: rows out of range");
    std::vector<uint32_t> rows(num_users);
    std::iota(rows.begin(), rows.end(), first);
    model->model.recommend_rows(
        rows, k, filter_or_none(model, filter),
        [&](size_t i, const std::vector<bet::ScoredItem>& found) {
          hand_out(found, items + i * k, counts + i);
        },
        threads);
  });
}

int bet_user_id(const bet_model* model, uint32_t row, const char** id, size_t* length) {
  return guarded([&] {
    need(model != nullptr && id != nullptr && length != nullptr, "bet_user_id: a null pointer");
    need(row < model->model.num_users(), "bet_user_id: the row is out of range");
    const std::string_view text = model->model.user_id(row);
    *id = text.data();
    *length = text.size();
  });
}

int bet_recommend_filtered(const bet_model* model, const char* user, size_t k,
                           const bet_filter* filter, bet_scored_item* items, size_t* count) {
  return guarded([&] {
    constexpr const char* kNull = "bet_recommend_filtered: a null pointer";
    need(model != nullptr && user != nullptr && items != nullptr && count != nullptr, kNull);
    hand_out(model->model.recommend(user, k, filter_of(model, filter, kNull)), items, count);
  });
}

int bet_similar_items_filtered(const bet_model* model, const char* item, size_t k,
                               const bet_filter* filter, bet_scored_item* items, size_t* count) {
  return guarded([&] {
    constexpr const char* kNull = "bet_similar_items_filtered: a null pointer";
    need(model != nullptr && item != nullptr && items != nullptr && count != nullptr, kNull);
    hand_out(model->model.similar_items(item, k, filter_of(model, filter, kNull)), items, count);
  });
}

int bet_recommend_batch(const bet_model* model, const char* const* users, size_t num_users,
                        size_t k, int leave_out_seen, bet_scored_item* items, size_t* counts,
                        int* codes) {
  return guarded([&] {
    need(model != nullptr && users != nullptr && items != nullptr && counts != nullptr &&
             codes != nullptr,
         "bet_recommend_batch: a null pointer");
    const auto list = texts(users, num_users, "bet_recommend_batch: a null pointer in the list");
    const auto answers = model->model.recommend_batch(list, k, seen_choice(leave_out_seen));
    for (size_t i = 0; i < num_users; ++i) {
      hand_out(answers[i].items, items + i * k, counts + i);
      codes[i] = answers[i].error.empty() ? BET_OK : BET_NOT_FOUND;
    }
  });
}

int bet_similar_items(const bet_model* model, const char* item, size_t k, bet_scored_item* items,
                      size_t* count) {
  return guarded([&] {
    need(model != nullptr && item != nullptr && items != nullptr && count != nullptr,
         "bet_similar_items: a null pointer");
    hand_out(model->model.similar_items(item, k), items, count);
  });
}

int bet_score(const bet_model* model, const char* user, const char* item, float* score) {
  return guarded([&] {
    need(model != nullptr && user != nullptr && item != nullptr && score != nullptr,
         "bet_score: a null pointer");
    *score = model->model.score(user, item);
  });
}

int bet_user_vector(const bet_model* model, const char* user, float* vector, size_t size) {
  return guarded([&] {
    need(model != nullptr && user != nullptr, "bet_user_vector: a null pointer");
    hand_out(model->model.user_vector(user), vector, size);
  });
}

int bet_item_vector(const bet_model* model, const char* item, float* vector, size_t size) {
  return guarded([&] {
    need(model != nullptr && item != nullptr, "bet_item_vector: a null pointer");
    hand_out(model->model.item_vector(item), vector, size);
  });
}

}  // extern "C"
