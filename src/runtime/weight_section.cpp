#include "runtime/weight_section.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/half.h"

namespace bet {
namespace {

constexpr std::string_view kWeights = "weights";

std::uint64_t bytes_a_value(Precision precision) {
  return precision == Precision::kFloat32 ? 4 : 2;
}

void check_shapes(const std::vector<DenseWeights>& weights, const FileHeader& header) {
  const std::span<const MatrixShape> shapes = header.traits().weights;
  const std::uint32_t width = weights_width(header, weights);
  for (std::size_t i = 0; i < std::max(weights.size(), shapes.size()); ++i) {
    BET_CHECK(i < shapes.size(), kWeights, ": ", in_quotes(weights[i].name), " is unexpected");
    const MatrixShape& shape = shapes[i];
    const std::uint32_t rows = shape.rows.at(width, header.max_dim);
    const std::uint32_t columns = shape.columns.at(width, header.max_dim);
    BET_CHECK(i < weights.size() && weights[i].name == shape.name, kWeights, ": ",
              i < weights.size() ? in_quotes(weights[i].name) : "the end", " instead of ",
              in_quotes(shape.name));
    BET_CHECK(weights[i].rows == rows && weights[i].columns == columns, kWeights, ": ",
              in_quotes(shape.name), " is ", weights[i].rows, " x ", weights[i].columns,
              " instead of ", rows, " x ", columns);
  }
}

void check_finite(const DenseWeights& weights) {
  for (const float value : weights.values) {
    BET_CHECK(std::isfinite(value), kWeights, ": ", in_quotes(weights.name), " has the value ",
              value);
  }
}

const DenseWeights& find_weights(const std::vector<DenseWeights>& weights, std::string_view name) {
  const auto found = std::find_if(weights.begin(), weights.end(),
                                  [&](const DenseWeights& one) { return one.name == name; });
  BET_CHECK(found != weights.end(), kWeights, ": there is no ", in_quotes(name));
  return *found;
}

float as_stored(float value, Precision precision) {
  return precision == Precision::kFloat32 ? value : half_to_float(float_to_half(value));
}

}  // namespace

std::uint32_t weights_width(const FileHeader& header, const std::vector<DenseWeights>& weights) {
  const std::span<const MatrixShape> shapes = header.traits().weights;
  const auto shape = std::find_if(shapes.begin(), shapes.end(), [](const MatrixShape& one) {
    return one.rows.widths > 0 || one.columns.widths > 0;
  });
  assert(shape != shapes.end());
  const DenseWeights& found = find_weights(weights, shape->name);
  const std::uint32_t width = shape->rows.widths > 0 ? found.rows / shape->rows.widths
                                                     : found.columns / shape->columns.widths;
  BET_CHECK(width <= header.max_dim, kWeights, ": ", in_quotes(shape->name), " is for rows of ",
            width, " columns of ", header.max_dim);
  return width;
}

std::string encode_weights(std::vector<DenseWeights> weights, const FileHeader& header) {
  std::sort(weights.begin(), weights.end(),
            [](const DenseWeights& a, const DenseWeights& b) { return a.name < b.name; });
  check_shapes(weights, header);
  std::string bytes;
  for (DenseWeights& one : weights) {
    BET_CHECK(one.values.size() == std::size_t{one.rows} * one.columns, kWeights, ": ",
              in_quotes(one.name), " of ", one.rows, " x ", one.columns, " has ", one.values.size(),
              " values");
    round_as_stored(one, header.weight_precision());
    check_finite(one);
    append(bytes, static_cast<std::uint8_t>(one.name.size()));
    bytes += one.name;
    append(bytes, one.rows);
    append(bytes, one.columns);
    for (const float value : one.values) {
      if (header.weight_precision() == Precision::kFloat32) {
        append(bytes, value);
      } else {
        append(bytes, float_to_half(value));
      }
    }
  }
  return bytes;
}

std::vector<DenseWeights> decode_weights(Bytes bytes, const FileHeader& header) {
  ByteReader reader(bytes, kWeights);
  std::vector<DenseWeights> weights;
  while (!reader.rest().empty()) {
    DenseWeights one;
    one.name = std::string(reader.text(reader.number<std::uint8_t>()));
    one.rows = reader.number<std::uint32_t>();
    one.columns = reader.number<std::uint32_t>();
    BET_CHECK(one.rows <= 2 * header.max_dim && one.columns <= header.max_dim, kWeights, ": ",
              in_quotes(one.name), " is ", one.rows, " x ", one.columns, " with embeddings of ",
              header.max_dim);
    const std::size_t count = std::size_t{one.rows} * one.columns;
    const std::byte* at = reader.take(count * bytes_a_value(header.weight_precision())).data();
    one.values.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      one.values.push_back(header.weight_precision() == Precision::kFloat32
                               ? load<float>(at + 4 * i)
                               : half_to_float(load<std::uint16_t>(at + 2 * i)));
    }
    check_finite(one);
    weights.push_back(std::move(one));
  }
  check_shapes(weights, header);
  return weights;
}

const std::vector<float>& named_weights(const std::vector<DenseWeights>& weights,
                                        std::string_view name) {
  return find_weights(weights, name).values;
}

std::uint64_t weights_bytes(const DenseWeights& weights, Precision precision) {
  return 1 + weights.name.size() + 8 + weights.values.size() * bytes_a_value(precision);
}

void round_as_stored(DenseWeights& weights, Precision precision) {
  for (float& value : weights.values) value = as_stored(value, precision);
}

}  // namespace bet
