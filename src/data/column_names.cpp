#include "data/column_names.h"

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace bet {
namespace {

// The name without case and separators: "userid" for "User_ID:token" and for "user id".
std::string plain_name(std::string_view header) {
  std::string name;
  for (const char c : header.substr(0, header.find(':'))) {
    if (c == '_' || c == '-' || c == ' ' || c == '.') continue;
    name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return name;
}

// The most common words first. Words for users and items also match with an affix: "book",
// "book_id", "BookNo", "id_book".
constexpr std::string_view kUserWords[] = {
    "user",     "u",      "usr",      "customer", "visitor",    "reviewer",    "reader",
    "member",   "client", "person",   "listener", "viewer",     "player",      "gamer",
    "buyer",    "cust",   "shopper",  "consumer", "subscriber", "account",     "profile",
    "student",  "rater",  "learner",  "guest",    "patron",     "participant", "steam",
    "borrower", "login",  "traveler", "cookie",   "device",     "session"};
constexpr std::string_view kItemWords[] = {
    "item",       "i",      "movie",   "film",    "product",  "business",   "book",    "song",
    "track",      "artist", "article", "isbn",    "asin",     "sku",        "stock",   "game",
    "video",      "anime",  "manga",   "show",    "series",   "episode",    "album",   "recipe",
    "restaurant", "venue",  "poi",     "place",   "location", "hotel",      "listing", "property",
    "course",     "news",   "paper",   "doc",     "document", "podcast",    "app",     "photo",
    "image",      "post",   "story",   "joke",    "job",      "offer",      "ad",      "beer",
    "wine",       "dish",   "food",    "page",    "url",      "content",    "media",   "event",
    "store",      "shop",   "brand",   "channel", "repo",     "repository", "title"};
constexpr std::string_view kIdSuffixes[] = {"id",   "",     "idx", "index", "uuid",
                                            "guid", "code", "key", "hash",  "number",
                                            "no",   "nr",   "num", "name"};
constexpr std::string_view kRatingNames[] = {
    "rating",     "ratings",      "stars",       "score",    "overall", "bookrating",
    "userrating", "reviewrating", "reviewscore", "star",     "grade",   "points",
    "playcount",  "plays",        "count",       "quantity", "qty"};
constexpr std::string_view kTimeNames[] = {"timestamp",
                                           "time",
                                           "ts",
                                           "t",
                                           "unixtime",
                                           "unixreviewtime",
                                           "datetime",
                                           "date",
                                           "unixtimestamp",
                                           "epoch",
                                           "createdat",
                                           "created",
                                           "eventtime",
                                           "eventtimestamp",
                                           "eventdate",
                                           "reviewtime",
                                           "reviewdate",
                                           "ratingtime",
                                           "ratingtimestamp",
                                           "ratingdate",
                                           "orderdate",
                                           "ordertime",
                                           "purchasedate",
                                           "purchasetime",
                                           "invoicedate",
                                           "transactiondate",
                                           "checkintime",
                                           "checkindate",
                                           "clicktime",
                                           "visittime",
                                           "visitdate",
                                           "viewedat",
                                           "watchedat",
                                           "playedat",
                                           "listenedat",
                                           "purchasedat",
                                           "updatedat",
                                           "utctime",
                                           "utctimestamp",
                                           "localtime",
                                           "day"};

// The rank of each name of the role, 0 for the most common.
std::unordered_map<std::string, std::size_t> ranks_of(ColumnRole role) {
  std::unordered_map<std::string, std::size_t> ranks;
  const auto add = [&](std::string name) { ranks.emplace(std::move(name), ranks.size()); };
  if (role == ColumnRole::kRating || role == ColumnRole::kTime) {
    const std::span<const std::string_view> names =
        role == ColumnRole::kRating ? std::span<const std::string_view>(kRatingNames) : kTimeNames;
    for (const std::string_view name : names) add(std::string(name));
    return ranks;
  }
  const std::span<const std::string_view> words =
      role == ColumnRole::kUser ? std::span<const std::string_view>(kUserWords) : kItemWords;
  for (const std::string_view word : words) {
    for (const std::string_view suffix : kIdSuffixes) {
      add(std::string(word) + std::string(suffix));
    }
    add("id" + std::string(word));
  }
  return ranks;
}

}  // namespace

int find_column(std::span<const std::string> names, ColumnRole role) {
  const std::unordered_map<std::string, std::size_t> ranks = ranks_of(role);
  int best = -1;
  std::size_t best_rank = ranks.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = ranks.find(plain_name(names[i]));
    if (found == ranks.end() || found->second >= best_rank) continue;
    best = static_cast<int>(i);
    best_rank = found->second;
  }
  return best;
}

}  // namespace bet
