// docs/format.md, byte by byte: what these files say must never change with versions 1 to 3.
#include <gtest/gtest.h>

#include <cmath>

#include "bet/model.h"
#include "runtime/model_writer.h"
#include "runtime/raw_file.h"
#include "runtime/toy_model.h"

namespace bet {
namespace {

using test::bytes_of;
using test::exact_bytes;
using test::RawFile;
using test::tiny_file;

void expect_items(const std::vector<ScoredItem>& found,
                  const std::vector<std::pair<std::string, float>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].item, expected[i].first);
    EXPECT_FLOAT_EQ(found[i].score, expected[i].second);
  }
}

void expect_vector(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_FLOAT_EQ(found[i], expected[i]) << i;
}

ModelToWrite vectors_model(std::vector<float>& users, std::vector<float>& items) {
  users = {3, 99, 1, 2};
  items = {0.5F, -1, 99, 99};
  ModelToWrite model;
  model.max_dim = 2;
  model.users = {{"al", "bob"}, {1, 2}, users, 2, {}};
  model.items = {{"x", "yy"}, {2, 0}, items, 2, {}};
  model.item_norms = {1.1180340F, 0};
  model.items_of = {{}, {1}};
  model.facts = {{"seed", std::int64_t{7}}};
  return model;
}

TEST(Format, HeaderAndDirectory) {
  const std::string file = tiny_file();
  // Sections at 320, 384, ...: 64 + 7 * 32 = 288 and on to the next 64.
  EXPECT_EQ(file.size(), 320U + 6U * 64U + 7U);
  const std::string expected =
      bytes_of("89 'BET' 0d0a1a0a 01000000 07000000 c702000000000000") + file.substr(24, 8) +
      bytes_of("02000000 02000000 02000000  00 00 00 00 00") + std::string(15, '\0') +
      bytes_of("01000000 00000000 4001000000000000 1200000000000000") + file.substr(88, 8) +
      bytes_of("02000000 00000000 8001000000000000 0c00000000000000");
  EXPECT_EQ(file.substr(0, expected.size()), expected);
  // XXH3 of the norms, as libxxhash 0.8.1 gives it.
  EXPECT_EQ(test::number_at<std::uint64_t>(file, 64 + 5 * 32 + 24), 0x274a274fd0a63f46U);
}

TEST(Format, VectorsGiveTheExpectedAnswer) {
  const std::vector<std::byte> bytes = exact_bytes(tiny_file());
  const Model model = Model::from_bytes(bytes);
  expect_items(model.recommend("bob", 5), {{"x", -1.5F}});
  expect_items(model.recommend("bob", 5, Model::Seen::kKeep), {{"yy", 0.0F}, {"x", -1.5F}});
  expect_items(model.recommend("al", 5), {{"x", 1.5F}, {"yy", 0.0F}});
  EXPECT_EQ(model.user_id(0), "bob");
  EXPECT_EQ(*model.fact("seed"), Model::Fact(std::int64_t{7}));
  EXPECT_EQ(model.summary().table_bytes, 4U * 5U + 8U * 3U);
}

TEST(Format, VectorsAreWrittenSo) {
  std::vector<float> users;
  std::vector<float> items;
  EXPECT_EQ(encode_model(vectors_model(users, items)), tiny_file());
}

// u (7, -, -7); i (0.5, 1, -3.5), j (-, 14, -); u has i. In four bits and with bitmaps.
std::string graph_file() {
  RawFile raw;
  raw.users = 1;
  raw.items = 2;
  raw.max_dim = 3;
  raw.backbone = 1;
  raw.serving = 1;
  raw.precision = 3;
  raw.layout = 1;
  raw.layers = 1;
  raw.sections = {
      {1, bytes_of("02000000  00 01 'a' 03000000 'b c'  02 01 'r' 000000000000e0bf")},
      {2, bytes_of("00000000  00  01 'u'")},
      {3, bytes_of("00000000  02  01 'i' 01 'j'")},
      {4, bytes_of("00000000 00000000 01000000 00000000  05  003c  1f")},
      {5, bytes_of("00000000 01000000 00000000 01000000  07 02  0038 0040  a981 8f")},
      {6, bytes_of("7946 0047")},
      {7, bytes_of("00000000  01 00")},
  };
  return raw.bytes();
}

TEST(Format, AGraphGivesTheExpectedAnswer) {
  const std::vector<std::byte> bytes = exact_bytes(graph_file());
  const Model model = Model::from_bytes(bytes);
  EXPECT_EQ(model.stored_user_row(0), (std::vector<float>{7, 0, -7}));
  EXPECT_EQ(model.stored_item_row(0), (std::vector<float>{0.5F, 1, -3.5F}));
  EXPECT_EQ(model.stored_item_row(1), (std::vector<float>{0, 14, 0}));
  // Each of u and i has one edge: both are (u + i) / 2. j has none: j / 2.
  EXPECT_EQ(model.user_vector("u"), (std::vector<float>{3.75F, 0.5F, -5.25F}));
  EXPECT_EQ(model.item_vector("i"), (std::vector<float>{3.75F, 0.5F, -5.25F}));
  EXPECT_EQ(model.item_vector("j"), (std::vector<float>{0, 7, 0}));
  expect_items(model.recommend("u", 5), {{"j", 3.5F}});
  expect_items(model.recommend("u", 5, Model::Seen::kKeep), {{"i", 41.875F}, {"j", 3.5F}});
  expect_items(model.similar_items("i", 5), {{"j", 3.5F / (7 * 6.47265625F)}});
  EXPECT_EQ(*model.fact("a"), Model::Fact(std::string("b c")));
  EXPECT_EQ(*model.fact("r"), Model::Fact(-0.5));
}

TEST(Format, AGraphIsWrittenSo) {
  const std::vector<float> users = {7, 99, -7};
  const std::vector<float> items = {99, 14, 99, 0.5F, 1, -3.5F};
  ModelToWrite model;
  model.backbone = BackboneId::kLightGcn;
  model.serving = Serving::kGraph;
  model.precision = Precision::kInt4;
  model.layout = RowLayout::kMasked;
  model.layers = 1;
  model.max_dim = 3;
  model.users = {{"u"}, {2}, users, 3, {{0, 2}}};
  model.items = {{"j", "i"}, {1, 3}, items, 3, {{1}, {0, 1, 2}}};
  model.item_norms = {7, 6.4710896F};
  model.items_of = {{1}};
  model.facts = {{"r", -0.5}, {"a", std::string("b c")}};
  EXPECT_EQ(encode_model(model), graph_file());
}

// u (2, 3); x (0.5, -1), y (-): products, hidden part. Of size 1 of 2, fp16.
std::string ncf_file() {
  RawFile raw;
  raw.version = 2;
  raw.users = 1;
  raw.items = 2;
  raw.max_dim = 2;
  raw.backbone = 3;
  raw.precision = 1;
  raw.sections = {
      {1, bytes_of("00000000")},
      {2, bytes_of("00000000  00  01 'u'")},
      {3, bytes_of("00000000  02  01 'x' 01 'y'")},
      {4, bytes_of("00000000 01000000 00000000  0040 0042")},
      {5, bytes_of("01000000 01000000 00000000  0038 00bc")},
      {6, bytes_of("793c 0000")},
      {8, bytes_of("0b 'head.hidden' 01000000 02000000  003c 00c0"
                   "0d 'head.products' 01000000 01000000  0044"
                   "0b 'hidden.bias' 01000000 02000000  0038 003c"
                   "0b 'hidden.item' 01000000 02000000  003c 0040"
                   "0b 'hidden.user' 01000000 02000000  003c 003c")},
  };
  return raw.bytes();
}

TEST(Format, NcfGivesTheExpectedAnswer) {
  const std::vector<std::byte> bytes = exact_bytes(ncf_file());
  const Model model = Model::from_bytes(bytes);
  EXPECT_EQ(model.stored_user_row(0), (std::vector<float>{2, 3}));
  // u: 3 * (1, 1) + (0.5, 1) = (3.5, 4). x adds -1 * (1, 2); the head is (1, -2).
  // x: 4 * 2 * 0.5 + 2.5 - 2 * 2, y: 3.5 - 2 * 4
  expect_items(model.recommend("u", 5), {{"x", 2.5F}, {"y", -4.5F}});
  EXPECT_FLOAT_EQ(model.score("u", "x"), 2.5F);
  EXPECT_EQ(model.dimension(), 0U);
  EXPECT_EQ(model.summary().table_bytes, 2U * 4U + 8U * 3U);
  EXPECT_EQ(model.summary().params, 4U);
}

TEST(Format, NcfIsWrittenSo) {
  const std::vector<float> users = {2, 3, 99, 99};
  const std::vector<float> items = {99, 99, 99, 99, 0.5F, -1, 99, 99};
  ModelToWrite model;
  model.backbone = BackboneId::kNcf;
  model.precision = Precision::kFloat16;
  model.max_dim = 2;
  model.users = {{"u"}, {1}, users, 4, {}};
  model.items = {{"y", "x"}, {0, 1}, items, 4, {}};
  model.item_norms = {0, 1.1180340F};
  model.weights = {{"hidden.user", 1, 2, {1, 1}},
                   {"hidden.item", 1, 2, {1, 2}},
                   {"hidden.bias", 1, 2, {0.5F, 1}},
                   {"head.products", 1, 1, {4}},
                   {"head.hidden", 1, 2, {1, -2}}};
  EXPECT_EQ(encode_model(model), ncf_file());
}

// u (2), x (1), and u has x. Of size 1, fp32.
std::string ngcf_file() {
  RawFile raw;
  raw.version = 2;
  raw.users = 1;
  raw.items = 1;
  raw.max_dim = 1;
  raw.backbone = 2;
  raw.serving = 1;
  raw.layers = 3;
  raw.sections = {
      {1, bytes_of("00000000")},
      {2, bytes_of("00000000  00  01 'u'")},
      {3, bytes_of("00000000  00  01 'x'")},
      {4, bytes_of("00000000 01000000  00000040")},
      {5, bytes_of("00000000 01000000  0000803f")},
      {6, bytes_of("0040")},
      {7, bytes_of("00000000  01 00")},
      {8, bytes_of("0b 'layer1.bias' 01000000 01000000  0000003f"
                   "0d 'layer1.weight' 02000000 01000000  0000803f 000080bf"
                   "0b 'layer2.bias' 01000000 01000000  00000000"
                   "0d 'layer2.weight' 02000000 01000000  00000040 00000000"
                   "0b 'layer3.bias' 01000000 01000000  00000000"
                   "0d 'layer3.weight' 02000000 01000000  000080bf 00000000")},
  };
  return raw.bytes();
}

TEST(Format, NgcfGivesTheExpectedAnswer) {
  const std::vector<std::byte> bytes = exact_bytes(ngcf_file());
  const Model model = Model::from_bytes(bytes);
  // Layer 1: 1.5 - 2 * 1.5 + 0.5 = -1 keeps a fifth, and 1.5 - 1.5 + 0.5; then both 0.3, both
  // -0.06.
  expect_vector(model.user_vector("u"), {2, -1, 1, -1});
  expect_vector(model.item_vector("x"), {1, 1, 1, -1});
  expect_items(model.recommend("u", 5, Model::Seen::kKeep), {{"x", 3.0F}});
  EXPECT_EQ(model.stored_user_row(0), std::vector<float>{2});
}

TEST(Format, NgcfIsWrittenSo) {
  const std::vector<float> users = {2};
  const std::vector<float> items = {1};
  ModelToWrite model;
  model.backbone = BackboneId::kNgcf;
  model.serving = Serving::kGraph;
  model.layers = 3;
  model.max_dim = 1;
  model.users = {{"u"}, {1}, users, 1, {}};
  model.items = {{"x"}, {1}, items, 1, {}};
  model.item_norms = {2};
  model.items_of = {{0}};
  model.weights = {{"layer1.weight", 2, 1, {1, -1}}, {"layer1.bias", 1, 1, {0.5F}},
                   {"layer2.weight", 2, 1, {2, 0}},  {"layer2.bias", 1, 1, {0}},
                   {"layer3.weight", 2, 1, {-1, 0}}, {"layer3.bias", 1, 1, {0}}};
  EXPECT_EQ(encode_model(model), ngcf_file());
}

// A row of a precision below four bits as it is given, as it is written with the scale 1, which is
// code 160, and as it is read.
struct PackedRow {
  Precision precision;
  std::vector<float> values;
  std::string bytes;
  std::vector<float> read;
};

std::vector<PackedRow> packed_rows() {
  return {
      // Codes 7 0 6 1  5 2 4 3  4 4.
      {Precision::kInt3,
       {6, -6.1F, 4, -4.1F, 2, -2.1F, 0.1F, -0.1F, 0.1F, 0.1F},
       "63 c9 00 55 03",
       {7, -7, 5, -5, 3, -3, 1, -1, 1, 1}},
      // Codes 3 0 2 1  2.
      {Precision::kInt2, {2.8F, -2.8F, 0.9F, -0.9F, 1.5F}, "63 02", {3, -3, 1, -1, 1}},
      // Codes 2 0 1 2 1  2.
      {Precision::kTernary, {2, -2, 0.5F, 2, -0.5F, 2}, "92 02", {2, -2, 0, 2, 0, 2}},
      {Precision::kInt1,
       {1.2F, -1.3F, 1.2F, 1.3F, -1.2F, -1.3F, 1.2F, -1.3F, 1.2F},
       "4d 01",
       {1, -1, 1, 1, -1, -1, 1, -1, 1}},
  };
}

// One row of size `max_dim`, the largest.
std::string row_section(std::size_t max_dim, const PackedRow& row) {
  return std::string(4 * row.values.size(), '\0') + bytes_of("01000000") +
         std::string(4 * (max_dim - row.values.size()), '\0') + bytes_of("a0 " + row.bytes);
}

// Every two of the rows: one of the user u, one of the item x.
TEST(Format, CodesArePackedSo) {
  for (const PackedRow& user : packed_rows()) {
    for (const PackedRow& item : packed_rows()) {
      SCOPED_TRACE(std::string(precision_name(user.precision)) + " and " +
                   std::string(precision_name(item.precision)));
      const std::size_t dim = std::max(user.values.size(), item.values.size());
      RawFile raw;
      raw.version = 3;
      raw.users = raw.items = 1;
      raw.max_dim = static_cast<std::uint32_t>(dim);
      raw.precision = static_cast<std::uint8_t>(user.precision);
      raw.item_precision = static_cast<std::uint8_t>(item.precision);
      raw.sections = {{1, bytes_of("00000000")},
                      {2, bytes_of("00000000  00  01 'u'")},
                      {3, bytes_of("00000000  00  01 'x'")},
                      {4, row_section(dim, user)},
                      {5, row_section(dim, item)},
                      {6, bytes_of("003c")}};
      const std::vector<std::byte> bytes = exact_bytes(raw.bytes());
      const Model model = Model::from_bytes(bytes);
      std::vector<float> user_read = user.read;
      std::vector<float> item_read = item.read;
      user_read.resize(dim);
      item_read.resize(dim);
      EXPECT_EQ(model.stored_user_row(0), user_read);
      EXPECT_EQ(model.stored_item_row(0), item_read);
      float score = 0;
      for (std::size_t j = 0; j < dim; ++j) score += user_read[j] * item_read[j];
      expect_items(model.recommend("u", 5), {{"x", score}});

      ModelToWrite to_write;
      to_write.precision = user.precision;
      to_write.item_precision = item.precision;
      to_write.max_dim = raw.max_dim;
      const auto num_values = [](const PackedRow& row) {
        return static_cast<std::uint32_t>(row.values.size());
      };
      to_write.users = {{"u"}, {num_values(user)}, user.values, user.values.size(), {}};
      to_write.items = {{"x"}, {num_values(item)}, item.values, item.values.size(), {}};
      to_write.item_norms = {1};
      EXPECT_EQ(encode_model(to_write), raw.bytes());
    }
  }
}

TEST(Format, ScalesOfOneByteAreEighthsOfPowersOfTwo) {
  const PackedRow row = packed_rows()[1];
  for (int code = 0; code < 256; ++code) {
    RawFile raw;
    raw.version = 3;
    raw.users = 1;
    raw.max_dim = 5;
    raw.precision = raw.item_precision = 5;
    raw.sections = {{1, bytes_of("00000000")},
                    {2, bytes_of("00000000  00  01 'u'")},
                    {3, ""},
                    {4, row_section(5, row)},
                    {5, std::string(24, '\0')},
                    {6, ""}};
    raw.section(4)[24] = static_cast<char>(code);
    const std::vector<std::byte> bytes = exact_bytes(raw.bytes());
    const Model model = Model::from_bytes(bytes);
    const auto scale = code == 0 ? 0.0F : static_cast<float>(std::exp2((code - 160) / 8.0));
    std::vector<float> expected;
    for (const float level : row.read) expected.push_back(level * scale);
    EXPECT_EQ(model.stored_user_row(0), expected) << code;
  }
}

// The file of vectors with other ids: users 7 and 12, and with `number_items` items 3 and 4.
std::string numbers_file(bool number_items) {
  RawFile raw = test::take_apart(tiny_file());
  raw.version = 4;
  raw.user_ids = 1;
  raw.section(2) = bytes_of("07 00 03 00  41");
  if (number_items) {
    raw.item_ids = 1;
    raw.section(3) = bytes_of("03 01  00");
  }
  return raw.bytes();
}

TEST(Format, NumbersGiveTheExpectedAnswer) {
  const std::vector<std::byte> bytes = exact_bytes(numbers_file(true));
  const Model model = Model::from_bytes(bytes);
  expect_items(model.recommend("12", 5), {{"3", -1.5F}});
  expect_items(model.recommend("7", 5), {{"3", 1.5F}, {"4", 0.0F}});
  EXPECT_EQ(model.user_id(0), "12");
  EXPECT_EQ(model.user_id(1), "7");
  EXPECT_FALSE(model.has_user("07"));
  EXPECT_EQ(model.summary().opened_bytes, 2U * 2U + 1U + 2U * 1U + 1U);
}

TEST(Format, NumbersAreWrittenSo) {
  std::vector<float> users;
  std::vector<float> items;
  ModelToWrite model = vectors_model(users, items);
  model.users.ids = {"7", "12"};
  const std::string mixed = encode_model(model);
  EXPECT_EQ(mixed, numbers_file(false));
  const std::vector<std::byte> bytes = exact_bytes(mixed);
  expect_items(Model::from_bytes(bytes).recommend("7", 5), {{"x", 1.5F}, {"yy", 0.0F}});
  model.items.ids = {"3", "4"};
  EXPECT_EQ(encode_model(model), numbers_file(true));
  // The file of texts as always where one id of each side is none.
  model.users.ids = {"7", "012"};
  model.items.ids = {"3", "+4"};
  EXPECT_EQ(encode_model(model)[8], 1);
  model.item_precision = Precision::kInt8;
  EXPECT_EQ(encode_model(model)[8], 3);
  model.items.ids = {"3", "4"};
  const std::string both = encode_model(model);
  EXPECT_EQ(both.substr(8, 1) + both.substr(50, 3), bytes_of("04  02 00 01"));
}

// The file of vectors, with its interactions as bits: bob has one item, yy, and al none.
std::string bits_file() {
  RawFile raw = test::take_apart(tiny_file());
  raw.version = 5;
  raw.lists = 1;
  // The length 1 as 10 1, item 1 with the parameter 1 as 0 1, the length 0 as 10 0.
  raw.section(7) = bytes_of("00000000  0000000008 0000000000  35");
  return raw.bytes();
}

TEST(Format, BitsGiveTheExpectedAnswer) {
  const std::vector<std::byte> bytes = exact_bytes(bits_file());
  const Model model = Model::from_bytes(bytes);
  EXPECT_EQ(model.seen_items("bob"), (std::vector<std::string_view>{"yy"}));
  EXPECT_EQ(model.seen_items("al"), (std::vector<std::string_view>{}));
  EXPECT_EQ(model.summary().interactions, 1U);
}

// Programs that read versions 1 and 2 alone still read what they know.
TEST(Format, VersionThreeIsWrittenOnlyWhereItIsNeeded) {
  const auto version = [](BackboneId backbone, Precision users, Precision items) {
    test::ToyOptions options;
    if (backbone == BackboneId::kNgcf) options = test::toy_ngcf();
    if (backbone == BackboneId::kNcf) options = test::toy_ncf();
    options.backbone = backbone;
    options.precision = users;
    options.item_precision = items;
    const std::string file = test::ToyModel(options).encode();
    EXPECT_EQ(file[46], static_cast<char>(users));
    EXPECT_EQ(file[50], static_cast<char>(file[8] == 3 ? items : Precision::kFloat32));
    return int{file[8]};
  };
  for (const BackboneTraits& traits : kBackboneTraits) {
    for (const Precision users : test::kPrecisions) {
      for (const Precision items : test::kPrecisions) {
        const bool is_old = users == items && users <= Precision::kInt4;
        const int old_version = traits.id <= BackboneId::kLightGcn ? 1 : 2;
        EXPECT_EQ(version(traits.id, users, items), is_old ? old_version : 3) << traits.name;
      }
    }
  }
}

}  // namespace
}  // namespace bet
