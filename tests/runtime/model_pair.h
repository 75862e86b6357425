#pragma once

#include <set>
#include <string>
#include <vector>

#include "bet/model.h"
#include "runtime/toy_model.h"

namespace bet::test {

// A model, and the same model computed by hand in doubles.
struct Pair {
  explicit Pair(const ToyOptions& options);

  static std::size_t index_of(const std::vector<std::string>& ids, std::string_view id);

  const std::vector<std::string>& users() const { return toy.model.users.ids; }
  const std::vector<std::string>& items() const { return toy.model.items.ids; }
  std::set<std::string> seen(std::size_t user) const;
  bool scores_cosines() const { return toy.model.score == ScoreKind::kCosine; }
  bool has_vectors() const { return toy.model.backbone != BackboneId::kNcf; }

  // Computed by hand, by the indices of the toy. Cosines use the lengths as stored, in 11 bits.
  double score(std::size_t user, std::size_t item) const;
  double cosine(std::size_t item, std::size_t other) const;
  // Of a vector and an item of a model that scores by cosines, with the file's length of the item.
  double cosine_to(const std::vector<double>& vector, std::size_t item) const;

  ToyModel toy;
  std::vector<std::byte> bytes;
  Model model;
  Vectors vectors;  // with ncf: the rows
};

// Every backbone, way of serving, precision and layout.
std::vector<ToyOptions> all_kinds();
std::string kind_name(const ToyOptions& options);

}  // namespace bet::test
