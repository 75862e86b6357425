#include "runtime/toy_model.h"

#include <cmath>
#include <cstring>

namespace bet::test {
namespace {

// Uniform in [-1, 1].
float random_value(Random& random) {
  return static_cast<float>(random() % 20'001) / 10'000.0F - 1.0F;
}

struct SideOptions {
  std::uint32_t count = 0;
  const char* prefix = "";
  RowForm form;
};

void make_side(const SideOptions& options, Random& random, SideToWrite& side,
               std::vector<float>& values, Matrix& rows) {
  const std::uint32_t columns = options.form.max_columns;
  const std::uint32_t per_column = options.form.values_per_column;
  side.stride = std::size_t{columns} * per_column;
  for (std::uint32_t index = 0; index < options.count; ++index) {
    side.ids.push_back(options.prefix + std::to_string(index * 7919 % 1000));
    const std::uint32_t size = index == 1 ? 0 : random() % (columns + 1);
    std::vector<std::uint32_t> columns_of_row;
    for (std::uint32_t column = 0; column < columns; ++column) {
      // Masked: selection sampling, so that exactly `size` columns are taken.
      const bool keep = options.form.layout == RowLayout::kPrefix
                            ? column < size
                            : random() % (columns - column) <
                                  size - static_cast<std::uint32_t>(columns_of_row.size());
      if (keep) columns_of_row.push_back(column);
    }
    side.sizes.push_back(size);
    if (options.form.layout == RowLayout::kMasked) side.columns.push_back(columns_of_row);
    std::vector<double> row(side.stride);
    std::vector<float> stored(side.stride, 1e30F);
    for (const std::uint32_t column : columns_of_row) {
      for (std::uint32_t at = column * per_column; at < (column + 1) * per_column; ++at) {
        stored[at] = random_value(random);
        row[at] = stored[at];
      }
    }
    rows.push_back(row);
    values.insert(values.end(), stored.begin(), stored.end());
  }
  side.values = values;
}

void add_weights(const ToyOptions& options, std::uint32_t width, Random& random,
                 std::vector<DenseWeights>& weights) {
  const std::uint32_t full = options.max_dim;
  const auto add = [&](const std::string& name, std::uint32_t rows, std::uint32_t columns) {
    DenseWeights one{name, rows, columns, {}};
    one.values.resize(std::size_t{rows} * columns);
    for (float& value : one.values) value = random_value(random);
    weights.push_back(one);
  };
  if (options.backbone == BackboneId::kNcf) {
    add("hidden.user", width, full);
    add("hidden.item", width, full);
    add("hidden.bias", 1, full);
    add("head.products", 1, width);
    add("head.hidden", 1, full);
    return;
  }
  for (const char* layer : {"layer1", "layer2", "layer3"}) {
    add(std::string(layer) + ".weight", 2 * (weights.empty() ? width : full), full);
    add(std::string(layer) + ".bias", 1, full);
  }
}

}  // namespace

ToyOptions toy_graph(std::uint8_t layers) {
  ToyOptions options;
  options.backbone = BackboneId::kLightGcn;
  options.serving = Serving::kGraph;
  options.layers = layers;
  return options;
}

ToyOptions toy_ngcf() {
  ToyOptions options = toy_graph(3);
  options.backbone = BackboneId::kNgcf;
  return options;
}

ToyOptions toy_ncf() {
  ToyOptions options;
  options.backbone = BackboneId::kNcf;
  return options;
}

FileHeader ToyOptions::header() const {
  FileHeader header;
  header.num_users = users;
  header.num_items = items;
  header.max_dim = max_dim;
  header.backbone = backbone;
  header.serving = serving;
  header.precision = precision;
  header.item_precision = item_precision.value_or(precision);
  header.layout = layout;
  header.layers = layers;
  header.score = score;
  if (number_users) header.user_ids = IdForm::kNumbers;
  if (number_items) header.item_ids = IdForm::kNumbers;
  return header;
}

ToyModel::ToyModel(const ToyOptions& options) {
  Random random(options.seed);
  model.backbone = options.backbone;
  model.serving = options.serving;
  model.precision = options.precision;
  model.item_precision = options.item_precision;
  model.layout = options.layout;
  model.layers = options.layers;
  model.score = options.score;
  model.max_dim = options.max_dim;
  const FileHeader header = options.header();
  make_side({options.users, options.number_users ? "" : "u", header.user_form()}, random,
            model.users, user_values, user_rows);
  make_side({options.items, options.number_items ? "" : "item ", header.item_form()}, random,
            model.items, item_values, item_rows);
  if (options.interactions) {
    model.items_of.resize(options.users);
    for (std::uint32_t user = 0; user + 1 < options.users; ++user) {
      for (std::uint32_t item = 0; item + 1 < options.items; ++item) {
        // Far from even, so that degrees differ and lists have gaps.
        if (random() % (2 + user % 3 + item % 4) == 0) model.items_of[user].push_back(item);
      }
    }
  }
  if (header.has_weights()) {
    std::uint32_t width = options.spare_columns;
    for (const SideToWrite* side : {&model.users, &model.items}) {
      for (const std::uint32_t size : side->sizes) {
        width = std::max(width, options.layout == RowLayout::kMasked ? options.max_dim : size);
      }
    }
    add_weights(options, width, random, model.weights);
  }
  for (const auto& vector : vectors_by_hand(model, user_rows, item_rows).items) {
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
