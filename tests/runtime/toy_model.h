#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/model_writer.h"

namespace bet::test {

// std::mt19937 whose numbers are of 32 bits in their type too.
using Random = std::independent_bits_engine<std::mt19937, 32, std::uint32_t>;

constexpr Precision kPrecisions[] = {Precision::kFloat32, Precision::kFloat16, Precision::kInt8,
                                     Precision::kInt4,    Precision::kInt3,    Precision::kInt2,
                                     Precision::kTernary, Precision::kInt1};

using Matrix = std::vector<std::vector<double>>;  // [index, column]

struct ToyOptions {
  std::uint32_t users = 7;
  std::uint32_t items = 9;
  std::uint32_t max_dim = 5;
  BackboneId backbone = BackboneId::kMf;
  Serving serving = Serving::kVectors;
  Precision precision = Precision::kFloat32;
  std::optional<Precision> item_precision = {};  // none: the same
  RowLayout layout = RowLayout::kPrefix;
  std::uint8_t layers = 0;
  ScoreKind score = ScoreKind::kDot;
  bool interactions = true;
  bool number_users = false, number_items = false;  // ids that the file stores as numbers
  // Ngcf by graph and ncf: the weights take at least so many columns. 0: as many as rows have.
  std::uint32_t spare_columns = 0;
  std::uint32_t seed = 1;

  FileHeader header() const;
};

ToyOptions toy_graph(std::uint8_t layers);  // of lightgcn
ToyOptions toy_ngcf();                      // by graph
ToyOptions toy_ncf();

// Random rows, among them empty ones; the last user and the last item have no interactions. Columns
// that are not stored have huge values, which must not be read.
struct ToyModel {
  explicit ToyModel(const ToyOptions& options);
  ToyModel(const ToyModel&) = delete;
  ToyModel& operator=(const ToyModel&) = delete;

  std::string encode() const { return encode_model(model); }

  ModelToWrite model;
  std::vector<float> user_values, item_values;
  Matrix user_rows, item_rows;  // as stored, with all values of a row
};

struct Vectors {
  Matrix users, items;
};

// (E + AE + .. + A^L E) / (L + 1) with the whole matrix A, in doubles.
Vectors propagate(const Matrix& user_rows, const Matrix& item_rows,
                  const std::vector<std::vector<std::uint32_t>>& items_of, int layers);

// The same for ngcf, as docs/format.md defines it.
Vectors propagate_ngcf(const Matrix& user_rows, const Matrix& item_rows, const ModelToWrite& model);

// The vectors of any kind of model with these rows; with ncf, which has none, the rows.
Vectors vectors_by_hand(const ModelToWrite& model, const Matrix& user_rows,
                        const Matrix& item_rows);

// A score of ncf from two rows, as docs/format.md defines it.
double ncf_score(const std::vector<double>& user_row, const std::vector<double>& item_row,
                 const std::vector<DenseWeights>& weights);

double dot(const std::vector<double>& a, const std::vector<double>& b);

// Memory that ends with the bytes, so that the address sanitizer reports a read past them.
std::vector<std::byte> exact_bytes(const std::string& file);

}  // namespace bet::test
