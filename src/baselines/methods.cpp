#include <array>
#include <string>

#include "base/error.h"
#include "search/method.h"

namespace bet {

extern const MethodKind kBet;
extern const MethodKind kBetPaper;
extern const MethodKind kFull;
extern const MethodKind kEqual;
extern const MethodKind kMixedRandom;
extern const MethodKind kSided;
extern const MethodKind kFrequency;
extern const MethodKind kMagnitude;
extern const MethodKind kPep;
extern const MethodKind kEsapn;
extern const MethodKind kOptEmbed;
extern const MethodKind kCiess;

std::span<const MethodKind* const> methods() {
  static constexpr std::array kAll = {&kBet,         &kBetPaper, &kFull,      &kEqual,
                                      &kMixedRandom, &kSided,    &kFrequency, &kMagnitude,
                                      &kPep,         &kEsapn,    &kOptEmbed,  &kCiess};
  return kAll;
}

const MethodKind& find_method(std::string_view name) {
  std::string known;
  for (const MethodKind* kind : methods()) {
    if (kind->name == name) return *kind;
    known += (known.empty() ? "" : ", ") + std::string(kind->name);
  }
  fail("unknown method ", in_quotes(name), "; there are ", known);
}

}  // namespace bet
