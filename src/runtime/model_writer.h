#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/facts.h"
#include "runtime/model_file.h"
#include "runtime/weight_section.h"

namespace bet {

// One side of a model to be written, in the order of the data.
struct SideToWrite {
  std::vector<std::string> ids;
  std::vector<std::uint32_t> sizes;  // by index: columns to store
  // [index, stride]: layer 0 for serving by graph, else the vectors. Ncf: two values a column,
  // value 2c for the products and 2c + 1 for the hidden part.
  std::span<const float> values;
  std::size_t stride = 0;
  // Masked layout only, by index: the columns to store, ascending.
  std::vector<std::vector<std::uint32_t>> columns;
};

struct ModelToWrite {
  BackboneId backbone = BackboneId::kMf;
  Serving serving = Serving::kVectors;
  Precision precision = Precision::kFloat32;  // of the users' rows, and of the items' unless:
  std::optional<Precision> item_precision;
  RowLayout layout = RowLayout::kPrefix;
  ScoreKind score = ScoreKind::kDot;
  std::uint8_t layers = 0;    // propagation layers of serving by graph; ngcf: 3
  std::uint32_t max_dim = 0;  // --dim, also of the vectors of ngcf, which may be 4 times as long
  SideToWrite users, items;
  std::vector<float> item_norms;  // lengths of the items' vectors (ncf: of their stored rows)
  // The items of each user, in any order. Serving by graph needs them; else they may be empty and
  // the section is left out.
  std::vector<std::vector<std::uint32_t>> items_of;
  // Ngcf by graph and ncf: exactly the matrices of docs/format.md, in any order; otherwise none.
  std::vector<DenseWeights> weights;
  Facts facts;
};

// The file's bytes, the same for the same model. Throws on what cannot be stored.
std::string encode_model(const ModelToWrite& model);

}  // namespace bet
