#include "data/memory_data.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/integer_text.h"
#include "data/interaction_parser.h"

namespace bet {
namespace {

bool are_integers(const IdTable& ids) {
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    if (!integer_of(ids.name(i))) return false;
  }
  return true;
}

}  // namespace

MemoryData::MemoryData(const ReadOptions& options)
    : options_(options),
      users_("users", options.max_count),
      items_("items", options.max_count),
      log_({false, options.with_times, options.max_count}) {}

bool MemoryData::leaves_out(double rating) {
  if (!options_.min_rating) return false;
  BET_CHECK(std::isfinite(rating), "rating ", rating, " is not a number");
  if (rating >= *options_.min_rating) return false;
  ++below_min_rating_;
  return true;
}

std::uint32_t MemoryData::index_of(IdBuilder& builder, std::string_view id, std::string_view what) {
  BET_CHECK(!id.empty(), "empty ", what, " id");
  BET_CHECK(id.size() <= kMaxIdBytes, what, " id of ", id.size(), " bytes is longer than ",
            kMaxIdBytes, ": ", in_quotes(id));
  return builder.index_of(id);
}

std::uint32_t MemoryData::index_of(IdBuilder& builder, std::int64_t id) {
  return id >= 0 ? builder.index_of(static_cast<std::uint64_t>(id))
                 : builder.index_of(std::to_string(id));
}

Dataset MemoryData::finish(const std::string& name, GivenAsTexts texts) {
  BET_CHECK(log_.size() > 0, name, ": no interactions",
            below_min_rating_ > 0
                ? str_cat("; all ", below_min_rating_, " are rated below the least rating")
                : "");
  IdBuilder::Result user_ids = users_.finish();
  IdBuilder::Result item_ids = items_.finish();
  LoggedRows rows = log_.finish(user_ids.new_index, item_ids.new_index);
  Dataset dataset;
  dataset.name = name;
  dataset.format = "memory";
  dataset.users = std::move(user_ids.table);
  dataset.items = std::move(item_ids.table);
  dataset.interactions = std::move(rows.interactions);
  dataset.duplicates = rows.duplicates;
  dataset.below_min_rating = below_min_rating_;
  keep_core(dataset, options_.min_user_inter, options_.min_item_inter);
  if (texts.users && are_integers(dataset.users)) dataset.text_ids = "users";
  if (texts.items && are_integers(dataset.items)) {
    dataset.text_ids += dataset.text_ids.empty() ? "items" : ", items";
  }
  return dataset;
}

}  // namespace bet
