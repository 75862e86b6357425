#include "model/backbone.h"

#include <array>

#include "base/error.h"

namespace bet {

extern const BackboneKind kMf;
extern const BackboneKind kLightGcn;
extern const BackboneKind kNcf;
extern const BackboneKind kNgcf;

namespace {

// A new backbone: its file under src/model, and its name here.
constexpr std::array<const BackboneKind*, 4> kBackbones = {&kMf, &kLightGcn, &kNgcf, &kNcf};

}  // namespace

MaskedTable Backbone::initial(std::span<const SizePlan> plans, std::uint64_t seed) const {
  return make_table(plans, seed);
}

std::vector<NamedWeights> Backbone::named_weights(const MaskedTable& /*parameters*/) const {
  return {};
}

std::span<const BackboneKind* const> backbones() { return kBackbones; }

std::string backbone_names() {
  std::string names;
  for (const BackboneKind* kind : kBackbones) {
    if (!names.empty()) names += ", ";
    names += kind->name;
  }
  return names;
}

const BackboneKind& find_backbone(std::string_view name) {
  for (const BackboneKind* kind : kBackbones) {
    if (kind->name == name) return *kind;
  }
  fail("unknown backbone ", in_quotes(name), "; there are ", backbone_names());
}

}  // namespace bet
