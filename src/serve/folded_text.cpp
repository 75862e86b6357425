#include "serve/folded_text.h"

#include <cstdint>

namespace bet {
namespace {

// The small letters that U+00C0 to U+017F are without accents; '*': not one letter.
constexpr std::string_view kLatin =
    "aaaaaa*ceeeeiiiidnooooo*ouuuuy**aaaaaa*ceeeeiiiidnooooo*ouuuuy*y"
    "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii**jjkkklllllll"
    "lllnnnnnnnnnoooooo**rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
static_assert(kLatin.size() == 0x180 - 0xc0);

std::string_view latin_letters(std::uint32_t code) {
  switch (code) {
    case 0xc6:
    case 0xe6:
      return "ae";
    case 0xde:
    case 0xfe:
      return "th";
    case 0xdf:
      return "ss";
    case 0x132:
    case 0x133:
      return "ij";
    case 0x152:
    case 0x153:
      return "oe";
    case 0xd7:  // the signs of multiplication and division
    case 0xf7:
      return " ";
    default:
      return kLatin.substr(code - 0xc0, 1);
  }
}

struct AccentedLetter {
  std::uint32_t capital, small, plain;
};
constexpr AccentedLetter kGreekWithTonos[] = {
    {0x386, 0x3ac, 0x3b1}, {0x388, 0x3ad, 0x3b5}, {0x389, 0x3ae, 0x3b7}, {0x38a, 0x3af, 0x3b9},
    {0x38c, 0x3cc, 0x3bf}, {0x38e, 0x3cd, 0x3c5}, {0x38f, 0x3ce, 0x3c9}};

// The small letter of a Greek or Cyrillic one, and all else as it is. Letters of two bytes stay so.
std::uint32_t small_letter(std::uint32_t code) {
  const auto is_in = [&](std::uint32_t first, std::uint32_t last) {
    return code >= first && code <= last;
  };
  if (is_in(0x391, 0x3a9) || is_in(0x410, 0x42f)) return code + 32;
  if (is_in(0x400, 0x40f)) return code + 80;
  for (const auto& [capital, small, plain] : kGreekWithTonos) {
    if (code == capital || code == small) return plain;
  }
  return code;
}

void append_two_bytes(std::string& text, std::uint32_t code) {
  text += static_cast<char>(0xc0U | (code >> 6U));
  text += static_cast<char>(0x80U | (code & 0x3fU));
}

}  // namespace

std::string folded_text(std::string_view text) {
  std::string folded;
  folded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool is_pair = byte >= 0xc2 && byte <= 0xdf && next >= 0x80 && next <= 0xbf;
    if (!is_pair) {
      folded += byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : text[i];
      continue;
    }
    ++i;
    const std::uint32_t code = (byte & 0x1fU) << 6U | (next & 0x3fU);
    if (code >= 0x300 && code <= 0x36f) continue;  // combining accents
    if (code >= 0xc0 && code <= 0x17f) {
      folded += latin_letters(code);
    } else {
      append_two_bytes(folded, small_letter(code));
    }
  }
  return folded;
}

}  // namespace bet
