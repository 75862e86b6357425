#include <algorithm>
#include <array>

#include "search/method.h"

namespace bet {

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
  static constexpr std::array kAll = {&kFull,      &kEqual, &kMixedRandom, &kSided,    &kFrequency,
                                      &kMagnitude, &kPep,   &kEsapn,       &kOptEmbed, &kCiess};
  return kAll;
}

const MethodKind* find_method(std::string_view name) {
  const auto all = methods();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const MethodKind* kind) { return kind->name == name; });
  return found != all.end() ? *found : nullptr;
}

}  // namespace bet
