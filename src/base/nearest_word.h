#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bet {

// Letters to insert, remove, replace or swap with the next one to make one word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The word that somebody who wrote `written` most likely meant: one that begins with it, or one
// that differs in a third of the letters at most. Empty if there is none; the first of equals.
std::string nearest_word(std::string_view written, std::span<const std::string> words);

}  // namespace bet
