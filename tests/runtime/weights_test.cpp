// Wrong weights, given to the writer or in a file, and the summary of models with weights.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "bet/bet.h"
#include "runtime/model_pair.h"
#include "runtime/raw_file.h"
#include "runtime/weight_section.h"
#include "support/expect_error.h"

namespace bet {
namespace {

using test::error_of;
using test::exact_bytes;
using test::Pair;
using test::put;
using test::RawFile;
using test::ToyModel;
using test::ToyOptions;

constexpr std::uint32_t kWeights = 8;

void expect_in(const std::string& error, const std::string& text) {
  EXPECT_NE(error.find(text), std::string::npos) << "'" << error << "' instead of " << text;
}

DenseWeights& named(ModelToWrite& model, std::string_view name) {
  for (DenseWeights& one : model.weights) {
    if (one.name == name) return one;
  }
  throw std::logic_error("no such weights");
}

void refuse_writing(const ToyOptions& options, const char* text,
                    const std::function<void(ModelToWrite&)>& change) {
  ToyModel toy(options);
  EXPECT_NO_THROW(toy.encode());
  change(toy.model);
  expect_in(error_of([&] { toy.encode(); }), text);
}

TEST(Weights, AreRefusedByTheWriterUnlessExactlyThoseOfTheBackbone) {
  const ToyOptions ngcf = test::toy_ngcf();
  const ToyOptions ncf = test::toy_ncf();
  refuse_writing(ngcf, "there is no 'layer1.weight'", [](auto& m) { m.weights.clear(); });
  refuse_writing(ngcf, "the end instead of 'layer3.weight'", [](auto& m) {
    std::erase_if(m.weights, [](const DenseWeights& one) { return one.name == "layer3.weight"; });
  });
  refuse_writing(ncf, "'hidden.spare' instead of 'hidden.user'",
                 [](auto& m) { named(m, "hidden.user").name = "hidden.spare"; });
  refuse_writing(ncf, "'more' is unexpected", [](auto& m) {
    m.weights.push_back({"more", 1, 1, {1}});
  });
  refuse_writing(ncf, "'hidden.bias' instead of 'hidden.item'",
                 [](auto& m) { m.weights.push_back(named(m, "hidden.bias")); });
  refuse_writing(ngcf, "'layer2.bias' is 1 x 4 instead of 1 x 5",
                 [](auto& m) { named(m, "layer2.bias").columns = 4; });
  refuse_writing(ncf, "'hidden.item' of 5 x 5 has 24 values",
                 [](auto& m) { named(m, "hidden.item").values.pop_back(); });
  refuse_writing(ncf, "'hidden.user' is 4 x 5 instead of 5 x 5",
                 [](auto& m) { named(m, "hidden.user").rows = 4; });
  refuse_writing(ncf, "'head.products' is for rows of 6 columns of 5",
                 [](auto& m) { named(m, "head.products").columns = 6; });
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    refuse_writing(ngcf, "'layer2.bias' has the value",
                   [&](auto& m) { named(m, "layer2.bias").values[0] = value; });
  }
  ToyOptions halves = ncf;
  halves.precision = Precision::kInt4;
  refuse_writing(halves, "'hidden.bias' has the value inf",
                 [](auto& m) { named(m, "hidden.bias").values[0] = 70'000; });
  refuse_writing(ToyOptions(), "a model with weights, among them 'extra'", [](auto& m) {
    m.weights.push_back({"extra", 1, 1, {1}});
  });
  refuse_writing(ngcf, "header: impossible number of layers 2", [](auto& m) { m.layers = 2; });
  refuse_writing(ncf, "header: serving by graph for ncf",
                 [](auto& m) { m.serving = Serving::kGraph; });
}

// Good checksums, wrong otherwise. `change` is given the parts of a good file.
void refuse_reading(const ToyOptions& options, const std::string& text,
                    const std::function<void(RawFile&)>& change) {
  RawFile raw = test::take_apart(ToyModel(options).encode());
  const std::vector<std::byte> good = exact_bytes(raw.bytes());
  EXPECT_NO_THROW(Model::from_bytes(good));
  change(raw);
  const std::vector<std::byte> bytes = exact_bytes(raw.bytes());
  for (const Verify verify : {Verify::kAll, Verify::kStructure}) {
    expect_in(error_of([&] { Model::from_bytes(bytes, verify); }), text);
  }
}

// The position of a matrix's number of rows in the section; that of its columns follows.
std::size_t shape_at(const RawFile& raw, const std::string& name) {
  for (const auto& [kind, bytes] : raw.sections) {
    if (kind == kWeights) return bytes.find(name) + name.size();
  }
  throw std::logic_error("no weights");
}

TEST(Weights, OfAFileAreRefusedUnlessExactlyThoseOfTheBackbone) {
  const ToyOptions ngcf = test::toy_ngcf();
  const ToyOptions ncf = test::toy_ncf();
  const auto set_shape = [](RawFile& raw, const std::string& name, std::uint32_t rows,
                            std::uint32_t columns) {
    const std::size_t at = shape_at(raw, name);
    put(raw.section(kWeights), at, rows);
    put(raw.section(kWeights), at + 4, columns);
  };
  refuse_reading(ngcf, "missing section: weights", [](auto& raw) { raw.remove(kWeights); });
  refuse_reading(ncf, "missing section: weights", [](auto& raw) { raw.remove(kWeights); });
  refuse_reading(test::toy_graph(3), "unexpected section: weights",
                 [](auto& raw) { raw.sections.emplace_back(kWeights, "x"); });
  refuse_reading(ngcf, "there is no 'layer1.weight'",
                 [](auto& raw) { raw.section(kWeights).clear(); });
  refuse_reading(ncf, "weights: ends after", [](auto& raw) { raw.section(kWeights).pop_back(); });
  refuse_reading(ncf, "weights: ends after",
                 [](auto& raw) { raw.section(kWeights).push_back('\x05'); });
  refuse_reading(ncf, "'' is unexpected",
                 [](auto& raw) { raw.section(kWeights) += std::string(9, '\0'); });
  refuse_reading(ngcf, "'layer2.weight' is 4294967295 x 4294967295",
                 [&](auto& raw) { set_shape(raw, "layer2.weight", 0xffffffffU, 0xffffffffU); });
  refuse_reading(ngcf, "'layer2.weight' is 11 x 5",
                 [&](auto& raw) { set_shape(raw, "layer2.weight", 11, 5); });
  // As many values, another shape.
  refuse_reading(ngcf, "'layer2.weight' is 5 x 5 instead of 10 x 5", [&](auto& raw) {
    const std::size_t at = shape_at(raw, "layer2.weight");
    set_shape(raw, "layer2.weight", 5, 5);
    raw.section(kWeights).erase(at + 8, 25 * 4);
  });
  refuse_reading(ngcf, "'layer1.bias' is 5 x 1 instead of 1 x 5",
                 [&](auto& raw) { set_shape(raw, "layer1.bias", 5, 1); });
  refuse_reading(ncf, "'hidden.bias' is 5 x 1 instead of 1 x 5",
                 [&](auto& raw) { set_shape(raw, "hidden.bias", 5, 1); });
  refuse_reading(ncf, "'head.products' is 1 x 6 with embeddings of 5",
                 [&](auto& raw) { set_shape(raw, "head.products", 1, 6); });
  refuse_reading(ncf, "'Xead.hidden' instead of 'head.hidden'",
                 [](auto& raw) { raw.section(kWeights)[1] = 'X'; });
  for (const std::uint32_t bits : {0x7f800000U, 0xffc00000U}) {
    refuse_reading(ngcf, "'layer3.bias' has the value", [&](auto& raw) {
      put(raw.section(kWeights), shape_at(raw, "layer3.bias") + 8, bits);
    });
  }
  ToyOptions halves = ncf;
  halves.precision = Precision::kInt8;
  refuse_reading(halves, "'hidden.user' has the value", [](auto& raw) {
    put(raw.section(kWeights), shape_at(raw, "hidden.user") + 8, std::uint16_t{0x7c00});
  });
  refuse_reading(ngcf, "header: version 1 for ngcf", [](auto& raw) { raw.version = 1; });
  refuse_reading(ngcf, "header: impossible number of layers 4", [](auto& raw) { raw.layers = 4; });
  refuse_reading(ncf, "header: impossible embedding size 4097",
                 [](auto& raw) { raw.max_dim = 4097; });
  refuse_reading(ncf, "there is no 'layer1.weight'", [](auto& raw) {
    raw.backbone = 2, raw.serving = 1, raw.layers = 3;
    // As ncf's rows have two values, the file has none: nothing before the weights is wrong.
    for (const std::uint32_t kind : {4U, 5U}) {
      raw.section(kind) = test::packed({kind == 4 ? raw.users : raw.items, 0U, 0U, 0U, 0U, 0U});
    }
  });
}

TEST(Weights, ForFewerColumnsThanRowsHaveAreRefused) {
  for (const ToyOptions& options : {test::toy_ngcf(), test::toy_ncf()}) {
    ToyModel toy(options);
    ToyOptions narrow = options;
    narrow.seed = 4;
    // Rows of size 0 take no column, so these weights have W = 0.
    ToyModel empty(narrow);
    empty.model.users.sizes.assign(empty.model.users.sizes.size(), 0);
    empty.model.items.sizes.assign(empty.model.items.sizes.size(), 0);
    for (DenseWeights& one : empty.model.weights) {
      if (one.name == "layer1.weight" || one.name == "hidden.user" || one.name == "hidden.item") {
        one.rows = 0;
      } else if (one.name == "head.products") {
        one.columns = 0;
      } else {
        continue;
      }
      one.values.clear();
    }
    const std::vector<std::byte> bytes = exact_bytes(empty.encode());
    const Model model = Model::from_bytes(bytes);
    EXPECT_EQ(model.row_width(), 0U);
    for (const ScoredItem& item : model.recommend(model.user_id(0), 100)) {
      EXPECT_TRUE(std::isfinite(item.score));
    }
    toy.model.weights = empty.model.weights;
    expect_in(error_of([&] { toy.encode(); }),
              "weights: made for rows of 0 columns, but there are rows of 5");
  }
}

TEST(Ncf, HasNoVectors) {
  const Pair pair(test::toy_ncf());
  EXPECT_EQ(pair.model.dimension(), 0U);
  EXPECT_EQ(pair.model.row_width(), 2 * 5U);
  expect_in(error_of([&] { pair.model.user_vector(pair.users()[0]); }), "ncf has no vectors");
  expect_in(error_of([&] { pair.model.item_vector(pair.items()[0]); }), "ncf has no vectors");
  EXPECT_EQ(error_of([&] { pair.model.score("nobody", pair.items()[0]); }),
            "unknown user 'nobody'");
  EXPECT_EQ(error_of([&] { pair.model.score(pair.users()[0], "what"); }), "unknown item 'what'");
}

TEST(Ncf, AnswersThroughTheCInterface) {
  const Pair pair(test::toy_ncf());
  bet_model* model = nullptr;
  ASSERT_EQ(bet_open_bytes(pair.bytes.data(), pair.bytes.size(), &model), BET_OK);
  EXPECT_EQ(bet_dimension(model), 0U);
  float value = 9;
  const char* user = pair.users()[0].c_str();
  EXPECT_EQ(bet_user_vector(model, user, &value, 1), BET_FAILED);
  expect_in(bet_error(), "ncf has no vectors");
  EXPECT_EQ(bet_item_vector(model, pair.items()[0].c_str(), &value, 1), BET_FAILED);
  EXPECT_EQ(bet_score(model, user, pair.items()[2].c_str(), &value), BET_OK);
  EXPECT_NEAR(value, pair.score(0, 2), 2e-5);
  std::vector<bet_scored_item> items(pair.items().size());
  std::size_t count = 0;
  EXPECT_EQ(bet_recommend(model, user, items.size(), 0, items.data(), &count), BET_OK);
  EXPECT_EQ(count, items.size());
  bet_close(model);
}

TEST(Ngcf, TheSameVectorsEveryTimeAndFromMaterialisedOnes) {
  ToyOptions options = test::toy_ngcf();
  options.users = 200;
  options.items = 150;
  options.max_dim = 33;
  const Pair graph(options);
  const Model again = Model::from_bytes(graph.bytes);
  ModelToWrite flat = graph.toy.model;
  flat.serving = Serving::kVectors;
  flat.layers = 0;
  flat.weights.clear();
  std::vector<float> user_values;
  std::vector<float> item_values;
  for (const std::string& user : graph.users()) {
    const std::vector<float> vector = graph.model.user_vector(user);
    EXPECT_EQ(vector, again.user_vector(user));
    user_values.insert(user_values.end(), vector.begin(), vector.end());
  }
  for (const std::string& item : graph.items()) {
    const std::vector<float> vector = graph.model.item_vector(item);
    item_values.insert(item_values.end(), vector.begin(), vector.end());
  }
  flat.users.stride = flat.items.stride = graph.model.dimension();
  flat.users.values = user_values;
  flat.items.values = item_values;
  flat.users.sizes.assign(options.users, graph.model.dimension());
  flat.items.sizes.assign(options.items, graph.model.dimension());
  const std::vector<std::byte> bytes = exact_bytes(encode_model(flat));
  const Model materialised = Model::from_bytes(bytes);
  EXPECT_EQ(materialised.summary().max_dim, options.max_dim);
  EXPECT_EQ(materialised.summary().opened_bytes, 0U);
  EXPECT_EQ(materialised.dimension(), graph.model.dimension());
  for (const std::string& user : graph.users()) {
    const auto a = graph.model.recommend(user, 10);
    const auto b = materialised.recommend(user, 10);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].score, b[i].score);
  }
}

}  // namespace
}  // namespace bet
