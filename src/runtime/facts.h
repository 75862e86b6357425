#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bet/model.h"
#include "runtime/bytes.h"

namespace bet {

// The facts section: typed values by name.
using Facts = std::vector<std::pair<std::string, Model::Fact>>;

// In any order; names must differ and have at most 255 bytes.
std::string encode_facts(Facts facts);
Facts decode_facts(Bytes bytes);

}  // namespace bet
