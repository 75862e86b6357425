#pragma once

#include <string>
#include <vector>

#include "data/download.h"

namespace bet {

// A public data set that `bet data get` knows.
struct CatalogueEntry {
  std::string name;
  std::string summary;  // users, items, interactions
  std::string licence;  // what its publisher allows, in a line
  std::vector<RemoteFile> files;
};

const std::vector<CatalogueEntry>& catalogue();

// Throws with the known names.
const CatalogueEntry& find_in_catalogue(const std::string& name);

}  // namespace bet
