// Ngcf and ncf in doubles and in the obvious order; declared in toy_model.h.
#include <algorithm>
#include <cmath>

#include "runtime/toy_model.h"

namespace bet::test {
namespace {

const DenseWeights& named(const std::vector<DenseWeights>& weights, const std::string& name) {
  return *std::find_if(weights.begin(), weights.end(),
                       [&](const DenseWeights& one) { return one.name == name; });
}

// row * matrix
std::vector<double> times(const std::vector<double>& row, const DenseWeights& matrix) {
  std::vector<double> result(matrix.columns);
  for (std::uint32_t i = 0; i < matrix.rows; ++i) {
    for (std::uint32_t j = 0; j < matrix.columns; ++j) {
      result[j] += row[i] * matrix.values[std::size_t{i} * matrix.columns + j];
    }
  }
  return result;
}

// One layer of all rows: `linked[a]` are the neighbours of row a, and a itself.
Matrix next_layer(const Matrix& now, const std::vector<std::vector<std::size_t>>& linked,
                  const DenseWeights& weight, const DenseWeights& bias) {
  Matrix next;
  for (std::size_t a = 0; a < now.size(); ++a) {
    std::vector<double> input(now[a].size());
    for (const std::size_t b : linked[a]) {
      for (std::size_t j = 0; j < now[b].size(); ++j) {
        input[j] += now[b][j] / static_cast<double>(linked[a].size());
      }
    }
    for (std::size_t j = 0; j < now[a].size(); ++j) input.push_back(now[a][j] * input[j]);
    std::vector<double> output = times(input, weight);
    for (std::size_t j = 0; j < output.size(); ++j) {
      output[j] += bias.values[j];
      if (output[j] < 0) output[j] *= 0.2;
    }
    next.push_back(output);
  }
  return next;
}

}  // namespace

Vectors propagate_ngcf(const Matrix& user_rows, const Matrix& item_rows,
                       const ModelToWrite& model) {
  const std::size_t users = user_rows.size();
  Matrix now = user_rows;
  now.insert(now.end(), item_rows.begin(), item_rows.end());
  for (auto& row : now) row.resize(named(model.weights, "layer1.weight").rows / 2);
  std::vector<std::vector<std::size_t>> linked(now.size());
  for (std::size_t a = 0; a < now.size(); ++a) linked[a] = {a};
  for (std::size_t user = 0; user < model.items_of.size(); ++user) {
    for (const std::uint32_t item : model.items_of[user]) {
      linked[user].push_back(users + item);
      linked[users + item].push_back(user);
    }
  }
  Matrix all = now;
  for (const std::string layer : {"layer1", "layer2", "layer3"}) {
    now = next_layer(now, linked, named(model.weights, layer + ".weight"),
                     named(model.weights, layer + ".bias"));
    for (std::size_t a = 0; a < now.size(); ++a) {
      const double length = std::max(std::sqrt(dot(now[a], now[a])), 1e-12);
      for (const double value : now[a]) all[a].push_back(value / length);
    }
  }
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(users);
  return {Matrix(all.begin(), middle), Matrix(middle, all.end())};
}

Vectors vectors_by_hand(const ModelToWrite& model, const Matrix& user_rows,
                        const Matrix& item_rows) {
  if (model.serving == Serving::kGraph && model.backbone == BackboneId::kNgcf) {
    return propagate_ngcf(user_rows, item_rows, model);
  }
  return propagate(user_rows, item_rows, model.items_of, model.layers);
}

double ncf_score(const std::vector<double>& user_row, const std::vector<double>& item_row,
                 const std::vector<DenseWeights>& weights) {
  const DenseWeights& products = named(weights, "head.products");
  double score = 0;
  std::vector<double> user;
  std::vector<double> item;
  for (std::size_t c = 0; c < products.columns; ++c) {
    score += products.values[c] * user_row[2 * c] * item_row[2 * c];
    user.push_back(user_row[2 * c + 1]);
    item.push_back(item_row[2 * c + 1]);
  }
  const std::vector<double> a = times(user, named(weights, "hidden.user"));
  const std::vector<double> b = times(item, named(weights, "hidden.item"));
  for (std::size_t h = 0; h < a.size(); ++h) {
    const double unit = a[h] + named(weights, "hidden.bias").values[h] + b[h];
    score += named(weights, "head.hidden").values[h] * std::max(unit, 0.0);
  }
  return score;
}

}  // namespace bet::test
