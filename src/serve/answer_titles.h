#pragma once

#include <nlohmann/json.hpp>

#include "serve/titles.h"

namespace bet {

// An answer (answer.h) with titles beside its ids: "title" behind each "item" that has one,
// "titles" behind "items" where that is a list of ids, and "given_titles" behind "given"; in these
// lists null stands for an item without a title. Without titles (null) the answer as it is.
nlohmann::ordered_json with_titles(nlohmann::ordered_json answer, const Titles* titles);

}  // namespace bet
