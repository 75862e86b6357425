#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bet/model.h"
#include "runtime/bytes.h"

namespace bet {

// The facts section: typed values by name.
using Facts = std::vector<std::pair<std::string, Model::Fact>>;

// Takes the facts in any order; names must differ and have at most 255 bytes.
std::string encode_facts(Facts facts);
Facts decode_facts(Bytes bytes);

// The value of a fact that is expected to be text, or an integer. Throws where it has another type;
// `file` names the file in the error.
const std::string& text_fact(std::string_view file, std::string_view name, const Model::Fact& fact);
std::int64_t integer_fact(std::string_view file, std::string_view name, const Model::Fact& fact);

}  // namespace bet
