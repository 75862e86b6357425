#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bet {

// The number of letters to insert, remove, replace or swap with their neighbour to turn one word
// into the other (restricted Damerau-Levenshtein distance).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The word that was most likely meant by `written`: the one nearest to it, if they differ in at
// most a third of the letters, or else one that begins with it. Empty if there is none; the first
// of equals.
std::string nearest_word(std::string_view written, std::span<const std::string> words);

}  // namespace bet
