#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bet {

// The backbones, and what both training (src/model) and serving (src/runtime) must know of each. A
// new backbone has an enumerator and a row of kBackboneTraits here.

// The numbers are those of docs/format.md.
enum class BackboneId : std::uint8_t { kMf = 0, kLightGcn = 1, kNgcf = 2, kNcf = 3 };

// A number of rows or columns of a dense matrix: `constant` + `widths` W + `dims` D, with W the
// columns of the table and D the full embedding size.
struct MatrixExtent {
  std::uint32_t constant = 0;
  std::uint32_t widths = 0;
  std::uint32_t dims = 0;

  constexpr std::uint32_t at(std::uint32_t width, std::uint32_t dim) const {
    return constant + widths * width + dims * dim;
  }
};

// A dense matrix of a backbone as its model file stores it.
struct MatrixShape {
  std::string_view name;
  MatrixExtent rows;
  MatrixExtent columns;
};

struct BackboneTraits {
  BackboneId id = BackboneId::kMf;
  std::string_view name;
  // The version of its model files: readers of an older version do not know the backbone.
  std::uint32_t file_version = 2;
  // Vectors are propagated along the interactions, so that a row of size 0 has a vector too.
  bool uses_graph = false;
  // A score is the dot product of a user's and an item's vector.
  bool dot_product = true;
  // Embeddings of a user or an item: values of a column.
  std::uint32_t tables = 1;
  // Layers of the propagation.
  std::uint32_t layers = 0;
  // Of these, the ones whose outputs, D columns each, stand after the table's columns in a vector.
  std::uint32_t layers_in_vector = 0;
  // Dense matrices, by ascending name; one of them at least has an extent with W.
  std::span<const MatrixShape> weights = {};
};

namespace backbone_shapes {

inline constexpr MatrixExtent kOne = {.constant = 1};
inline constexpr MatrixExtent kWidth = {.widths = 1};
inline constexpr MatrixExtent kTwoWidths = {.widths = 2};
inline constexpr MatrixExtent kDim = {.dims = 1};
inline constexpr MatrixExtent kTwoDims = {.dims = 2};

inline constexpr std::array<MatrixShape, 6> kNgcf = {{{"layer1.bias", kOne, kDim},
                                                      {"layer1.weight", kTwoWidths, kDim},
                                                      {"layer2.bias", kOne, kDim},
                                                      {"layer2.weight", kTwoDims, kDim},
                                                      {"layer3.bias", kOne, kDim},
                                                      {"layer3.weight", kTwoDims, kDim}}};
inline constexpr std::array<MatrixShape, 5> kNcf = {{{"head.hidden", kOne, kDim},
                                                     {"head.products", kOne, kWidth},
                                                     {"hidden.bias", kOne, kDim},
                                                     {"hidden.item", kWidth, kDim},
                                                     {"hidden.user", kWidth, kDim}}};

}  // namespace backbone_shapes

// By id.
inline constexpr std::array<BackboneTraits, 4> kBackboneTraits = {{
    {.id = BackboneId::kMf, .name = "mf", .file_version = 1},
    {.id = BackboneId::kLightGcn,
     .name = "lightgcn",
     .file_version = 1,
     .uses_graph = true,
     .layers = 3},
    {.id = BackboneId::kNgcf,
     .name = "ngcf",
     .uses_graph = true,
     .layers = 3,
     .layers_in_vector = 3,
     .weights = backbone_shapes::kNgcf},
    {.id = BackboneId::kNcf,
     .name = "ncf",
     .dot_product = false,
     .tables = 2,
     .weights = backbone_shapes::kNcf},
}};

// The largest full embedding size that model files of a version may have. With dense matrices the
// memory that opening fills grows with it, even where the file stores few columns.
constexpr std::uint32_t largest_dim(std::uint32_t file_version) {
  return file_version == 1 ? 32'767 : 4'096;
}

constexpr const BackboneTraits& backbone_traits(BackboneId id) {
  return kBackboneTraits[static_cast<std::size_t>(id)];
}

// Throws on an unknown name, with the names there are.
const BackboneTraits& backbone_traits(std::string_view name);

// "mf, lightgcn, ..."
std::string backbone_names();

}  // namespace bet
