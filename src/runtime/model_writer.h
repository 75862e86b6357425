#pragma once

#include <cstdint>
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
  std::vector<std::uint32_t> sizes;  // by index: columns kept
  // [index, stride]: layer 0 for serving by graph, else the vectors. Ncf: two values a column,
  // interleaved: 2c of the products, 2c + 1 of the hidden part.
  std::span<const float> values;
  std::size_t stride = 0;
  // Masked layout only, by index: the columns kept, ascending.
  std::vector<std::vector<std::uint32_t>> columns;
};

struct ModelToWrite {
  BackboneId backbone = BackboneId::kMf;
  Serving serving = Serving::kVectors;
  Precision precision = Precision::kFloat32;
  RowLayout layout = RowLayout::kPrefix;
  std::uint8_t layers = 0;    // of a graph; ngcf: 3
  std::uint32_t max_dim = 0;  // --dim, also of the vectors of ngcf, which may be 4 times as long
  SideToWrite users, items;
  std::vector<float> item_norms;  // lengths of the items' vectors (ncf: of their stored rows)
  // Of each user; in any order. Needed by a graph, else left out if empty.
  std::vector<std::vector<std::uint32_t>> items_of;
  // Ngcf by graph and ncf: exactly those of docs/format.md, in any order; else none.
  std::vector<DenseWeights> weights;
  Facts facts;
};

// The file's bytes, the same for the same model. Throws on what cannot be stored.
std::string encode_model(const ModelToWrite& model);

}  // namespace bet
