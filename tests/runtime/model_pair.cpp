#include "runtime/model_pair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/half.h"

namespace bet::test {

Pair::Pair(const ToyOptions& options)
    : toy(options), bytes(exact_bytes(toy.encode())), model(Model::from_bytes(bytes)) {
  // What rounding does to rows and weights is tested with them: here they are taken as stored. With
  // all columns of the table: a model has only those that some row has.
  const auto wide = [&](const std::vector<float>& row) {
    EXPECT_EQ(row.size(), model.row_width());
    std::vector<double> result(row.begin(), row.end());
    result.resize(toy.model.users.stride);
    return result;
  };
  Matrix user_rows(toy.user_rows.size());
  Matrix item_rows(toy.item_rows.size());
  for (std::uint32_t row = 0; row < model.num_users(); ++row) {
    user_rows[index_of(users(), model.user_id(row))] = wide(model.stored_user_row(row));
  }
  for (std::uint32_t row = 0; row < model.num_items(); ++row) {
    item_rows[index_of(items(), model.item_id(row))] = wide(model.stored_item_row(row));
  }
  const FileHeader header = options.header();
  for (DenseWeights& weights : toy.model.weights) {
    round_as_stored(weights, header.weight_precision());
  }
  for (const DenseWeights& found : model.weights()) {
    const auto same = [&](const DenseWeights& one) {
      return one.name == found.name && one.rows == found.rows && one.columns == found.columns &&
             one.values == found.values;
    };
    EXPECT_EQ(std::count_if(toy.model.weights.begin(), toy.model.weights.end(), same), 1)
        << found.name;
  }
  if (header.precision == Precision::kFloat32) {
    EXPECT_EQ(user_rows, toy.user_rows);
  }
  if (header.item_precision == Precision::kFloat32) {
    EXPECT_EQ(item_rows, toy.item_rows);
  }
  vectors = vectors_by_hand(toy.model, user_rows, item_rows);
}

std::size_t Pair::index_of(const std::vector<std::string>& ids, std::string_view id) {
  return static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
}

std::set<std::string> Pair::seen(std::size_t user) const {
  std::set<std::string> ids;
  if (toy.model.items_of.empty()) return ids;
  for (const std::uint32_t item : toy.model.items_of[user]) ids.insert(items()[item]);
  return ids;
}

double Pair::cosine_to(const std::vector<double>& vector, std::size_t item) const {
  const double lengths = std::sqrt(dot(vector, vector)) * double{toy.model.item_norms[item]};
  return lengths > 0 ? dot(vector, vectors.items[item]) / lengths : 0;
}

double Pair::score(std::size_t user, std::size_t item) const {
  if (scores_cosines()) return cosine_to(vectors.users[user], item);
  return has_vectors() ? dot(vectors.users[user], vectors.items[item])
                       : ncf_score(vectors.users[user], vectors.items[item], toy.model.weights);
}

double Pair::cosine(std::size_t item, std::size_t other) const {
  const auto length = [&](std::size_t of) {
    const float norm = toy.model.item_norms[of];
    return double{scores_cosines() ? norm : half_to_float(float_to_half(norm))};
  };
  const double lengths = length(item) * length(other);
  return lengths > 0 ? dot(vectors.items[item], vectors.items[other]) / lengths : 0;
}

std::vector<ToyOptions> all_kinds() {
  std::vector<ToyOptions> kinds;
  const auto add = [&](ToyOptions options, Precision precision, RowLayout layout) {
    options.precision = precision;
    options.layout = layout;
    options.seed = static_cast<std::uint32_t>(kinds.size()) + 1;
    options.interactions = options.serving == Serving::kGraph || kinds.size() % 2 == 0;
    // More than one block of ids and of lists, and more than one byte of bitmaps.
    if (options.layers == 3) options.users = 40, options.items = 35, options.max_dim = 11;
    kinds.push_back(options);
  };
  for (const Precision precision : kPrecisions) {
    for (const RowLayout layout : {RowLayout::kPrefix, RowLayout::kMasked}) {
      add(ToyOptions(), precision, layout);
      for (std::uint8_t layers = 1; layers <= 4; ++layers)
        add(toy_graph(layers), precision, layout);
      add(toy_ngcf(), precision, layout);
      ToyOptions materialised;
      materialised.backbone = BackboneId::kNgcf;
      add(materialised, precision, layout);
      add(toy_ncf(), precision, layout);
      ToyOptions wide = toy_ncf();
      wide.users = 20, wide.items = 130, wide.max_dim = 40;
      add(wide, precision, layout);
    }
  }
  ToyOptions materialised;
  materialised.backbone = BackboneId::kLightGcn;
  kinds.push_back(materialised);
  for (ToyOptions cosine : {ToyOptions(), toy_graph(3), toy_ngcf(), materialised}) {
    for (const Precision precision : {Precision::kFloat32, Precision::kInt8}) {
      cosine.score = ScoreKind::kCosine;
      cosine.precision = precision;
      kinds.push_back(cosine);
    }
  }
  kinds.push_back(toy_graph(16));
  for (const ToyOptions& each : {ToyOptions(), toy_graph(3), toy_ngcf(), materialised, toy_ncf()}) {
    for (const auto& [users, items] : {std::pair(Precision::kInt2, Precision::kInt1),
                                       std::pair(Precision::kTernary, Precision::kFloat32),
                                       std::pair(Precision::kFloat32, Precision::kInt8)}) {
      add(each, users, kinds.size() % 2 == 0 ? RowLayout::kPrefix : RowLayout::kMasked);
      kinds.back().item_precision = items;
    }
  }
  for (ToyOptions numbers : {ToyOptions(), toy_graph(3), toy_ncf()}) {
    numbers.number_items = true;
    add(numbers, Precision::kFloat32, RowLayout::kPrefix);
    numbers.number_users = true;
    add(numbers, Precision::kInt2, RowLayout::kMasked);
  }
  // Weights for more columns than any row has.
  for (ToyOptions spare : {toy_ngcf(), toy_ncf()}) {
    spare.users = spare.items = 2;
    spare.max_dim = spare.spare_columns = 12;
    kinds.push_back(spare);
  }
  return kinds;
}

std::string kind_name(const ToyOptions& options) {
  return std::string(backbone_traits(options.backbone).name) + std::to_string(options.layers) +
         std::string(precision_name(options.precision)) +
         (options.item_precision ? std::string(precision_name(*options.item_precision)) : "") +
         (options.layout == RowLayout::kPrefix ? "prefix" : "masked") +
         (options.score == ScoreKind::kCosine ? "cosine" : "");
}

}  // namespace bet::test
