#include "runtime/toy_model.h"

#include <cmath>
#include <cstring>

namespace bet::test {
namespace {

void make_side(SideToWrite& side, std::vector<float>& values, Matrix& rows, std::uint32_t count,
               const std::string& prefix, const ToyOptions& options, Random& random) {
  side.stride = options.max_dim;
  for (std::uint32_t index = 0; index < count; ++index) {
    side.ids.push_back(prefix + std::to_string(index * 7919 % 1000));
    const std::uint32_t size = index == 1 ? 0 : random() % (options.max_dim + 1);
    std::vector<std::uint32_t> kept;
    for (std::uint32_t column = 0; column < options.max_dim; ++column) {
      // Masked: each of the columns that are left is taken with the chance that makes `size` of
      // them.
      const bool keep = options.layout == RowLayout::kPrefix
                            ? column < size
                            : random() % (options.max_dim - column) <
                                  size - static_cast<std::uint32_t>(kept.size());
      if (keep) kept.push_back(column);
    }
    side.sizes.push_back(size);
    if (options.layout == RowLayout::kMasked) side.columns.push_back(kept);
    std::vector<double> row(options.max_dim);
    std::vector<float> stored(options.max_dim, 1e30F);
    for (const std::uint32_t column : kept) {
      const float value = static_cast<float>(random() % 20'001) / 10'000.0F - 1.0F;
      row[column] = value;
      stored[column] = value;
    }
    rows.push_back(row);
    values.insert(values.end(), stored.begin(), stored.end());
  }
  side.values = values;
}

}  // namespace

ToyOptions toy_graph(std::uint8_t layers) {
  ToyOptions options;
  options.backbone = FileBackbone::kLightGcn;
  options.serving = Serving::kGraph;
  options.layers = layers;
  return options;
}

ToyModel::ToyModel(const ToyOptions& options) {
  Random random(options.seed);
  model.backbone = options.backbone;
  model.serving = options.serving;
  model.precision = options.precision;
  model.layout = options.layout;
  model.layers = options.layers;
  model.max_dim = options.max_dim;
  make_side(model.users, user_values, user_rows, options.users, "u", options, random);
  make_side(model.items, item_values, item_rows, options.items, "item ", options, random);
  if (options.interactions) {
    model.items_of.resize(options.users);
    for (std::uint32_t user = 0; user + 1 < options.users; ++user) {
      for (std::uint32_t item = 0; item + 1 < options.items; ++item) {
        // Far from even, so that degrees differ and lists have gaps.
        if (random() % (2 + user % 3 + item % 4) == 0) model.items_of[user].push_back(item);
      }
    }
  }
  const int layers = options.serving == Serving::kGraph ? options.layers : 0;
  for (const auto& vector : propagate(user_rows, item_rows, model.items_of, layers).items) {
    model.item_norms.push_back(static_cast<float>(std::sqrt(dot(vector, vector))));
  }
  model.facts = {
      {"seed", std::int64_t{options.seed}}, {"dataset.name", "toy"}, {"test.recall", 0.25}};
}

Vectors propagate(const Matrix& user_rows, const Matrix& item_rows,
                  const std::vector<std::vector<std::uint32_t>>& items_of, int layers) {
  const std::size_t users = user_rows.size();
  Matrix now = user_rows;
  now.insert(now.end(), item_rows.begin(), item_rows.end());
  Matrix adjacency(now.size(), std::vector<double>(now.size()));
  for (std::size_t user = 0; user < items_of.size(); ++user) {
    for (const std::uint32_t item : items_of[user]) {
      adjacency[user][users + item] = adjacency[users + item][user] = 1;
    }
  }
  std::vector<double> degree(now.size());
  for (std::size_t a = 0; a < now.size(); ++a) {
    for (const double edge : adjacency[a]) degree[a] += edge;
  }
  Matrix sum = now;
  for (int layer = 0; layer < layers; ++layer) {
    Matrix next(now.size());
    for (std::size_t a = 0; a < now.size(); ++a) {
      next[a].resize(now[a].size());
      for (std::size_t b = 0; b < now.size(); ++b) {
        if (adjacency[a][b] == 0) continue;
        for (std::size_t j = 0; j < next[a].size(); ++j) {
          next[a][j] += now[b][j] / std::sqrt(degree[a] * degree[b]);
        }
      }
      for (std::size_t j = 0; j < next[a].size(); ++j) sum[a][j] += next[a][j];
    }
    now = next;
  }
  for (auto& vector : sum) {
    for (double& value : vector) value /= layers + 1;
  }
  const auto middle = sum.begin() + static_cast<std::ptrdiff_t>(users);
  return {Matrix(sum.begin(), middle), Matrix(middle, sum.end())};
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

std::vector<std::byte> exact_bytes(const std::string& file) {
  std::vector<std::byte> bytes(file.size());
  if (!file.empty()) std::memcpy(bytes.data(), file.data(), file.size());
  return bytes;
}

}  // namespace bet::test
