#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace bet {

// A table {"columns": [..], "rows": [[..]], "notes": [..]} of texts as HTML, which scrolls by
// itself where it is wider than the screen, with its notes below; empty without rows. Long ones are
// folded.
std::string html_table(const nlohmann::ordered_json& table);

}  // namespace bet
