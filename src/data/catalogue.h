#pragma once

#include <string>
#include <vector>

#include "data/download.h"

namespace bet {

// A public data set that `bet data get` can fetch.
struct CatalogueEntry {
  std::string name;
  std::string summary;  // users, items, interactions
  std::string licence;  // what its publisher allows, in one line
  std::vector<RemoteFile> files;
};

const std::vector<CatalogueEntry>& catalogue();

// Throws an Error that lists the names where there is no such data set.
const CatalogueEntry& find_in_catalogue(const std::string& name);

}  // namespace bet
