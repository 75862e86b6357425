#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bet/model.h"
#include "serve/titles.h"

namespace bet {

struct FoundItems {
  std::vector<std::string_view> items;  // live as long as the model and the titles
  std::uint64_t total = 0;              // that match, also those beyond the limit
};

// The items of the model that somebody means by `query`, best first: the one with this id; titles
// that begin with the query; titles with words that begin with its words; titles that contain its
// words; ids that begin with the query. Titles are compared as folded_text.h has it, ids byte by
// byte; equally good ones keep the order of the titles, or of the model. Without titles (null) only
// ids count. An empty query finds all items, in the order of the model.
FoundItems find_items(const Model& model, const Titles* titles, std::string_view query,
                      std::size_t limit);

}  // namespace bet
