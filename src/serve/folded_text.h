#pragma once

#include <string>
#include <string_view>

namespace bet {

// UTF-8 text as it is compared in searches: small letters without accents for Latin ("Amélie" and
// "AMELIE" become "amelie"), small letters for Greek and Cyrillic; combining accents are left out.
// All else, bytes that are not UTF-8 included, stays as it is.
std::string folded_text(std::string_view text);

}  // namespace bet
