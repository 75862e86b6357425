// Damaged and malicious files: they cause an error that names the problem, or harmless answers.
#include <gtest/gtest.h>

#include <functional>

#include "bet/model.h"
#include "runtime/exercise_model.h"
#include "runtime/raw_file.h"
#include "runtime/toy_model.h"
#include "support/expect_error.h"

namespace bet {
namespace {

using test::bytes_of;
using test::error_of;
using test::exact_bytes;
using test::number_at;
using test::put;
using test::RawFile;
using test::take_apart;
using test::tiny_file;
using test::ToyModel;
using test::ToyOptions;

constexpr std::size_t kDirectory = 64;
constexpr std::size_t kEntry = 32;

std::string toy_graph_file() { return ToyModel(test::toy_graph(2)).encode(); }

std::string file_of(Precision precision, RowLayout layout = RowLayout::kPrefix,
                    std::optional<Precision> item_precision = {}) {
  ToyOptions options;
  options.precision = precision;
  options.item_precision = item_precision;
  options.layout = layout;
  return ToyModel(options).encode();
}

// Of ids that are numbers, in two blocks of distances.
std::string toy_numbers_file() {
  ToyOptions options;
  options.users = 70;
  options.max_dim = 2;
  options.number_users = options.number_items = true;
  options.interactions = false;
  return ToyModel(options).encode();
}

// Of interactions that are stored as bits, in two blocks of lists.
std::string toy_bits_file() {
  ToyOptions options = test::toy_graph(2);
  options.users = 44;
  options.max_dim = 2;
  return ToyModel(options).encode();
}

// In fp16, so that a wrong bit can make a weight infinite.
std::string dense_file(ToyOptions options) {
  options.precision = Precision::kFloat16;
  options.max_dim = 3;
  return ToyModel(options).encode();
}

std::string error_at(const std::string& file, Verify verify) {
  const std::vector<std::byte> bytes = exact_bytes(file);
  return error_of([&] { Model::from_bytes(bytes, verify); });
}

// True if it opened; then every call returned.
bool opens_or_is_refused(const std::string& file, Verify verify) {
  const std::vector<std::byte> bytes = exact_bytes(file);
  std::optional<Model> model;
  try {
    model.emplace(Model::from_bytes(bytes, verify));
  } catch (const Error&) {
    return false;
  }
  test::exercise(*model, bytes);
  return true;
}

struct Base {
  const char* name;
  std::string file;

  friend std::ostream& operator<<(std::ostream& out, const Base& base) { return out << base.name; }
};

class Damaged : public testing::TestWithParam<Base> {};

TEST_P(Damaged, WholeItIsTaken) { EXPECT_TRUE(opens_or_is_refused(GetParam().file, Verify::kAll)); }

TEST_P(Damaged, EveryTruncationIsRefused) {
  const std::string& file = GetParam().file;
  for (std::size_t size = 0; size < file.size(); ++size) {
    for (const Verify verify : {Verify::kAll, Verify::kStructure}) {
      ASSERT_NE(error_at(file.substr(0, size), verify), "") << size;
      std::string adjusted = file.substr(0, size);  // with a size that fits
      if (size >= 24) put(adjusted, 16, std::uint64_t{size});
      test::sign(adjusted);
      ASSERT_NE(error_at(adjusted, verify), "") << size;
    }
  }
}

TEST_P(Damaged, EveryWrongByteIsRefusedOrHarmless) {
  const std::string& file = GetParam().file;
  int opened = 0;
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const int wrong : {0x01, 0x80, 0xff}) {
      SCOPED_TRACE(testing::Message() << "byte " << at << " ^ " << wrong);
      std::string changed = file;
      changed[at] = static_cast<char>(changed[at] ^ wrong);
      ASSERT_NE(error_at(changed, Verify::kAll), "");
      ASSERT_NO_THROW(opened += opens_or_is_refused(changed, Verify::kStructure) ? 1 : 0);
    }
  }
  EXPECT_GT(opened, 100);  // values of rows, letters of ids and the like
}

TEST_P(Damaged, ManyWrongBytesWithRightChecksumsAreRefusedOrHarmless) {
  test::Random random(1);
  int opened = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string changed = GetParam().file;
    for (std::uint32_t count = 1 + random() % 4; count > 0; --count) {
      const std::size_t at = random() % changed.size();
      changed[at] = static_cast<char>(random() % 2 == 0 ? random() : changed[at] + 1);
    }
    test::sign(changed);
    ASSERT_NO_THROW(opened += opens_or_is_refused(changed, Verify::kAll) ? 1 : 0);
  }
  EXPECT_GT(opened, 10);
}

TEST_P(Damaged, BytesBehindTheEndAreRefused) {
  std::string file = GetParam().file;
  const std::uint64_t size = file.size();
  for (const std::size_t more : {1U, 7U, 64U}) {
    file.resize(size + more);
    EXPECT_EQ(error_at(file, Verify::kStructure), "the file has " + std::to_string(file.size()) +
                                                      " bytes, but its header says " +
                                                      std::to_string(size));
    std::string adjusted = file;
    put(adjusted, 16, std::uint64_t{file.size()});
    test::sign(adjusted);
    EXPECT_EQ(error_at(adjusted, Verify::kAll),
              std::to_string(more) + " bytes after the last section");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Bases, Damaged,
    testing::Values(
        Base{"Graph", toy_graph_file()}, Base{"Int4", file_of(Precision::kInt4)},
        Base{"MaskedInt8", file_of(Precision::kInt8, RowLayout::kMasked)},
        Base{"TernaryAndInt1", file_of(Precision::kTernary, RowLayout::kMasked, Precision::kInt1)},
        Base{"Int2AndInt3", file_of(Precision::kInt2, RowLayout::kPrefix, Precision::kInt3)},
        Base{"Numbers", toy_numbers_file()}, Base{"Bits", toy_bits_file()},
        Base{"Ngcf", dense_file(test::toy_ngcf())}, Base{"Ncf", dense_file(test::toy_ncf())}),
    [](const auto& base) { return std::string(base.param.name); });

// Malicious files in which every checksum is right.
struct Crafted {
  std::string name;
  std::string what;  // a part of the error
  std::string file;
};

class Crafter {
 public:
  // The parts of a good file, changed.
  void parts(const char* name, const std::string& file, const std::string& what,
             const std::function<void(RawFile&)>& change) {
    RawFile raw = take_apart(file);
    change(raw);
    all_.push_back({name, what, raw.bytes()});
  }
  // The bytes of a good file, changed and signed.
  void bytes(const char* name, std::string file, const std::string& what,
             const std::function<void(std::string&)>& change) {
    change(file);
    test::sign(file);
    all_.push_back({name, what, file});
  }
  // A section of tiny_file(), replaced.
  void tiny(const char* name, std::uint32_t kind, const std::string& section,
            const std::string& what) {
    parts(name, tiny_file(), what, [&](RawFile& raw) { raw.section(kind) = section; });
  }
  const std::vector<Crafted>& all() const { return all_; }

 private:
  std::vector<Crafted> all_;
};

void craft_headers(Crafter& craft) {
  const std::string graph = toy_graph_file();
  const auto header = [&](const char* name, const std::string& what,
                          const std::function<void(RawFile&)>& change) {
    craft.parts(name, graph, what, change);
  };
  header("Version0", "version 0", [](RawFile& raw) { raw.version = 0; });
  header("Version2", "header: version 2 for lightgcn", [](RawFile& raw) { raw.version = 2; });
  header("Version3", "header: version 3 for lightgcn with users in fp32 and items in fp32",
         [](RawFile& raw) { raw.version = 3; });
  header("Version4",
         "header: version 4 for lightgcn with users in fp32 and items in fp32, user ids as texts, "
         "item ids as texts",
         [](RawFile& raw) { raw.version = 4; });
  header("Version5",
         "header: version 5 for lightgcn with users in fp32 and items in fp32, user ids as texts, "
         "item ids as texts, interactions as bytes",
         [](RawFile& raw) { raw.version = 5; });
  header("Version6", "version 6; this program reads versions 1 to 5",
         [](RawFile& raw) { raw.version = 6; });
  header("Lists2", "unknown form of interactions 2",
         [](RawFile& raw) { raw.version = 5, raw.lists = 2; });
  header("BitsWithoutVersion5", "header: bytes that must be zero",
         [](RawFile& raw) { raw.lists = 1; });
  header("BytesAsBits", "interactions: ", [](RawFile& raw) { raw.version = 5, raw.lists = 1; });
  header("UserIds2", "unknown form of user ids 2",
         [](RawFile& raw) { raw.version = 4, raw.user_ids = 2; });
  header("ItemIds2", "unknown form of item ids 2",
         [](RawFile& raw) { raw.version = 4, raw.item_ids = 2; });
  header("NumbersWithoutVersion4", "header: bytes that must be zero",
         [](RawFile& raw) { raw.user_ids = 1; });
  header("TextsAsNumbers", "user ids: ", [](RawFile& raw) { raw.version = 4, raw.user_ids = 1; });
  header("Backbone4", "unknown backbone 4", [](RawFile& raw) { raw.backbone = 4; });
  header("Serving2", "unknown serving 2", [](RawFile& raw) { raw.serving = 2; });
  header("Precision4", "header: version 1 for lightgcn with users in int3 and items in int3",
         [](RawFile& raw) { raw.precision = 4; });
  header("Precision8", "unknown precision 8",
         [](RawFile& raw) { raw.version = 3, raw.precision = 8; });
  header("ItemPrecision8", "unknown item precision 8",
         [](RawFile& raw) { raw.version = 3, raw.item_precision = 8; });
  header("ItemPrecisionWithoutVersion3", "header: bytes that must be zero",
         [](RawFile& raw) { raw.item_precision = 5; });
  header("Precision255", "unknown precision 255", [](RawFile& raw) { raw.precision = 255; });
  header("Layout2", "unknown layout 2", [](RawFile& raw) { raw.layout = 2; });
  header("GraphWithoutLayers", "number of layers 0", [](RawFile& raw) { raw.layers = 0; });
  header("GraphOf17Layers", "number of layers 17", [](RawFile& raw) { raw.layers = 17; });
  header("VectorsWithLayers", "number of layers 2", [](RawFile& raw) { raw.serving = 0; });
  header("GraphForMf", "serving by graph for mf", [](RawFile& raw) { raw.backbone = 0; });
  header("Dim0", "embedding size 0", [](RawFile& raw) { raw.max_dim = 0; });
  header("Dim32768", "embedding size 32768", [](RawFile& raw) { raw.max_dim = 32'768; });
  header("DimHuge", "embedding size 4294967295", [](RawFile& raw) { raw.max_dim = 0xffffffffU; });
  header("DimTooLarge", "user rows: ends after", [](RawFile& raw) { raw.max_dim = 32'767; });
  header("DimTooSmall", "user rows: ", [](RawFile& raw) { raw.max_dim = 4; });
  header("MoreUsers", "user ids: ", [](RawFile& raw) { ++raw.users; });
  header("FewerUsers", "user ids: ", [](RawFile& raw) { --raw.users; });
  header("MostUsers", "user ids: ends after", [](RawFile& raw) { raw.users = 0xffffffffU; });
  header("MoreItems", "item ids: ", [](RawFile& raw) { ++raw.items; });
  header("MostItems", "item ids: ends after", [](RawFile& raw) { raw.items = 0xffffffffU; });
  craft.bytes("UnknownScore", graph, "header: unknown score 2",
              [](std::string& file) { file[49] = 2; });
  craft.bytes("CosinesWithNormsOfDotProducts", graph,
              "item norms: ", [](std::string& file) { file[49] = 1; });
  for (std::size_t at = 50; at < 64; at += 6) {
    craft.bytes(("ByteOfTheHeader" + std::to_string(at)).c_str(), graph, "header: bytes that must",
                [&](std::string& file) { file[at] = 1; });
  }
  craft.bytes("ByteOfTheHeaderOfVersion3", file_of(Precision::kInt2), "header: bytes that must",
              [](std::string& file) { file[51] = 1; });
  craft.bytes("ByteOfTheHeaderOfVersion4", toy_numbers_file(), "header: bytes that must",
              [](std::string& file) { file[53] = 1; });
  craft.parts("Version3ForNumbers", toy_numbers_file(), "header: version 3 for mf",
              [](RawFile& raw) { raw.version = 3; });
  craft.parts("NumbersAsTexts", toy_numbers_file(),
              "item ids: ", [](RawFile& raw) { raw.item_ids = 0; });
  craft.parts("Version1ForMixedSides",
              file_of(Precision::kInt8, RowLayout::kPrefix, Precision::kInt4),
              "header: bytes that must", [](RawFile& raw) { raw.version = 1; });
  craft.bytes("WrongSize", graph, "bytes, but its header says 5",
              [](std::string& file) { put(file, 16, std::uint64_t{5}); });
  craft.bytes("HugeSize", graph, "bytes, but its header says 18446744073709551615",
              [](std::string& file) { put(file, 16, ~std::uint64_t{0}); });
  craft.bytes("WrongBeginning", graph, "not a bet model file (bad magic)",
              [](std::string& file) { file[7] = '\r'; });
}

void craft_directories(Crafter& craft) {
  const std::string graph = toy_graph_file();
  const auto entry = [&](const char* name, std::size_t index, std::size_t at, std::uint64_t add,
                         const std::string& what) {
    craft.bytes(name, graph, what, [&](std::string& file) {
      const std::size_t position = kDirectory + kEntry * index + at;
      put(file, position, number_at<std::uint64_t>(file, position) + add);
    });
  };
  const char* const names[] = {"facts",     "user ids",   "item ids",    "user rows",
                               "item rows", "item norms", "interactions"};
  for (std::uint32_t kind = 1; kind <= 7; ++kind) {
    const std::string name = names[kind - 1];
    craft.parts(("Without" + std::to_string(kind)).c_str(), graph, "missing section: " + name,
                [&](RawFile& raw) { raw.remove(kind); });
    const std::string label = std::to_string(kind);
    entry(("OffsetOneMore" + label).c_str(), kind - 1, 8, 1, name + ": ");
    entry(("OffsetABlockMore" + label).c_str(), kind - 1, 8, 64, name + ": ");
    entry(("OffsetABlockLess" + label).c_str(), kind - 1, 8, std::uint64_t{0} - 64, name + ": ");
    entry(("OffsetHuge" + label).c_str(), kind - 1, 8, std::uint64_t{1} << 63, name + ": ");
    entry(("SizeHuge" + label).c_str(), kind - 1, 16, std::uint64_t{1} << 63, name + ": ");
    craft.bytes(("SizeWraps" + label).c_str(), graph, name + ": ", [&](std::string& file) {
      const std::size_t at = kDirectory + kEntry * (kind - 1);
      // Offset and size add up to 0.
      put(file, at + 16, std::uint64_t{0} - number_at<std::uint64_t>(file, at + 8));
    });
  }
  craft.parts("Kind0", graph, "kind 0", [](RawFile& raw) { raw.sections[0].first = 0; });
  craft.parts("Kind9", graph, "kind 9", [](RawFile& raw) { raw.sections[6].first = 9; });
  craft.parts("KindTwice", graph, "kind 3 after one of kind 3",
              [](RawFile& raw) { raw.sections[1].first = 3; });
  craft.parts("KindsSwapped", graph, "kind 2 after one of kind 3",
              [](RawFile& raw) { std::swap(raw.sections[1], raw.sections[2]); });
  craft.parts("NoSections", graph, "missing section: facts",
              [](RawFile& raw) { raw.sections.clear(); });
  craft.parts("NineSections", graph, "header: 9 sections", [](RawFile& raw) {
    raw.sections.emplace_back(8, "x");
    raw.sections.emplace_back(9, "x");
  });
  craft.bytes("ManySections", graph, "header: 4294967295 sections",
              [](std::string& file) { put(file, 12, 0xffffffffU); });
  craft.bytes("EndsInItsDirectory", graph, "ends inside its directory", [](std::string& file) {
    file.resize(64);
    put(file, 16, std::uint64_t{64});
  });
  craft.bytes("ReservedBytes", graph, "directory: bytes that must be zero",
              [](std::string& file) { put(file, kDirectory + 2 * kEntry + 4, 1U); });
  craft.bytes(
      "PaddingBeforeFacts", graph, "bytes before facts are not zero",
      [](std::string& file) { file[number_at<std::uint64_t>(file, kDirectory + 8) - 1] = 1; });
  craft.bytes("PaddingBeforeNorms", graph, "bytes before item norms are not zero",
              [](std::string& file) {
                file[number_at<std::uint64_t>(file, kDirectory + 5 * kEntry + 8) - 1] = 1;
              });
}

void craft_facts(Crafter& craft) {
  craft.tiny("NoFactsAtAll", 1, "", "facts: ends after 0 bytes");
  craft.tiny("ManyFacts", 1, bytes_of("ffffffff 01 01 'a' 0700000000000000"), "facts: ends after");
  craft.tiny("FactType3", 1, bytes_of("01000000 03 01 'a' 0700000000000000"),
             "'a' has the unknown type 3");
  craft.tiny("FactTwice", 1,
             bytes_of("02000000 01 01 'a' 0700000000000000 01 01 'a' 0700000000000000"),
             "facts: 'a' is out of order");
  craft.tiny("FactsUnsorted", 1,
             bytes_of("02000000 01 01 'b' 0700000000000000 01 01 'a' 0700000000000000"),
             "facts: 'a' is out of order");
  craft.tiny("FactOfALongKey", 1, bytes_of("01000000 01 ff 'a' 0700000000000000"),
             "facts: ends after");
  craft.tiny("FactOfALongText", 1, bytes_of("01000000 00 01 'a' ffffffff 'text'"),
             "facts: ends after");
  craft.tiny("FactsTooLong", 1, bytes_of("01000000 01 01 'a' 0700000000000000 00"),
             "facts: 1 bytes too many");
}

void craft_ids(Crafter& craft) {
  craft.tiny("NoIdsAtAll", 2, "", "user ids: ends after 0 bytes");
  craft.tiny("IdsBeginElsewhere", 2, bytes_of("01000000  01  03 'bob' 02 'al'"),
             "user ids: the text of row 0 is not where");
  craft.tiny("IdsUnsorted", 2, bytes_of("00000000  02  03 'bob' 02 'al'"),
             "user ids: 'al' is out of order");
  craft.tiny("IdsTwiceTheSameRow", 2, bytes_of("00000000  00  03 'bob' 02 'al'"),
             "user ids: 'bob' is out of order");
  craft.tiny("IdsEqual", 2, bytes_of("00000000  02  02 'bb' 02 'bb'"),
             "user ids: 'bb' is out of order");
  craft.tiny("IdsWithBitsBehind", 2, bytes_of("00000000  05  03 'bob' 02 'al'"),
             "user ids: bits after the order");
  craft.tiny("IdPastTheEnd", 2, bytes_of("00000000  01  03 'bob' 03 'al'"), "user ids: ends after");
  craft.tiny("IdsTooLong", 2, bytes_of("00000000  01  03 'bob' 02 'al' 00"),
             "user ids: 1 bytes too many");
  craft.tiny("IdOfNeedlessLength", 2, bytes_of("00000000  01  03 'bob' 8200 'al'"),
             "user ids: a needless zero");
  craft.tiny("IdOfHugeLength", 2, bytes_of("00000000  01  03 'bob' ffffffff0f 'al'"),
             "user ids: the text of row 1 has 4294967295 bytes");
  craft.tiny("IdOfALengthThatOverflows", 2, bytes_of("00000000  01  03 'bob' ffffffff1f 'al'"),
             "user ids: a number of more than 32 bits");
  craft.tiny("IdTooLong", 2, bytes_of("00000000  01  03 'bob' 808004") + std::string(65'536, 'a'),
             "user ids: the text of row 1 has 65536 bytes");
  craft.tiny("ItemIdsUnsorted", 3, bytes_of("00000000  01  01 'x' 02 'yy'"),
             "item ids: 'x' is out of order");
  // Three rows need two bits each: 3 is no row.
  craft.parts("IdsOfARowThatIsNot", tiny_file(), "user ids: row 3 of 3", [](RawFile& raw) {
    raw.users = 3;
    raw.section(2) = bytes_of("00000000  0d  01 'a' 01 'b' 01 'c'");
  });
  ToyOptions options;
  options.users = 40;
  const std::string many = ToyModel(options).encode();
  craft.parts("SecondBlockOfIdsElsewhere", many, "user ids: the text of row 16 is not where",
              [](RawFile& raw) { ++raw.section(2)[4]; });
  craft.parts("SecondBlockOfListsElsewhere", many,
              "interactions: the list of user row 32 is not where",
              [](RawFile& raw) { ++raw.section(7)[4]; });
  craft.parts("LastBlockOfIdsFarAway", many, "user ids: the text of row 32 is not where",
              [](RawFile& raw) { put(raw.section(2), 8, 0xffffffffU); });
}

// The user ids of tiny_file() as numbers.
void craft_numbers(Crafter& craft) {
  const auto rows = [&](const char* name, std::uint32_t users, const char* section,
                        const std::string& what) {
    craft.parts(name, tiny_file(), "user ids: " + what, [&](RawFile& raw) {
      raw.version = 4;
      raw.user_ids = 1;
      raw.users = users;
      raw.section(2) = bytes_of(section);
    });
  };
  const auto numbers = [&](const char* name, const char* section, const std::string& what) {
    rows(name, 2, section, what);
  };
  numbers("NoNumbersAtAll", "", "ends after 0 bytes");
  numbers("NumbersWithoutLength", "07 00 03", "ends after 3 bytes");
  numbers("NumbersWithoutBits", "07 00 03 00", "ends after 0 bytes of bits for 2 rows");
  numbers("NumbersOfMoreRows", "07 02 41", "a run of 3 numbers from 7 on for the last 2 rows");
  numbers("NumbersOfManyMoreRows", "07 ffffffff0f 41",
          "a run of 4294967296 numbers from 7 on for the last 2 rows");
  numbers("NumbersOfMoreRowsInTheSecondRun", "07 00 03 01 41",
          "a run of 2 numbers from 12 on for the last 1 rows");
  numbers("RunEndsAtTheLimit", "ffffffffffffffff7f 01 41",
          "a run of 2 numbers from 9223372036854775807 on ends at 2^63");
  numbers("RunBeginsAtTheLimit", "feffffffffffffff7f 00 00 00 41", "a run begins at 2^63 or more");
  numbers("RunBeginsPastTheLimit", "ffffffffffffffff7f 00 00 00 41",
          "a run begins at 2^63 or more");
  numbers("RunWraps", "ffffffffffffffff7f 00 ffffffffffffffff7f 00 41",
          "a run begins at 2^63 or more");
  numbers("RunFarAway", "05 00 ffffffffffffffff7f 00 41", "a run begins at 2^63 or more");
  numbers("NumberOf64Bits", "ffffffffffffffffff01 00 41", "a number of more than 63 bits");
  numbers("NumberWithANeedlessZero", "8700 00 03 00 41", "a needless zero");
  numbers("LengthOf33Bits", "07 ffffffff1f 41", "a number of more than 32 bits");
  numbers("WideDistances", "07 00 03 00 02",
          "distances of 2 bits from row 0 on, where 1 are the most");
  numbers("OneNumberForTwoRows", "07 00 03 00 c1", "rows 0 and 1 have the same number");
  numbers("TooManyOnes", "07 00 03 00 c0 00", "2 ones or more before bit 8, where 1 are the most");
  numbers("EndlessOnes", "07 00 03 00 c0 ffffffffffffffffffffffffffffffff",
          "56 ones or more before bit 62");
  numbers("BitsEndEarly", "07 00 03 00 40",
          "ends after 1 bytes of bits, in the middle of a number");
  numbers("BitsBehindTheLastNumber", "07 00 03 00 40 02", "bits after the last number are not");
  numbers("BytesBehindTheLastNumber", "07 00 03 00 41 00", "1 bytes too many");
  rows("DistanceOfAllRows", 3, "07 02 c2 00", "a distance of 3 at row 0 of 3");
  rows("NoRowsButANumber", 0, "00", "1 bytes too many");
  rows("ManyRowsInOneRun", 0xffffffffU, "00 feffffff0f 00",
       "ends after 1 bytes of bits for 4294967295 rows");
}

void craft_interactions(Crafter& craft) {
  craft.tiny("NoListsAtAll", 7, "", "interactions: ends after 0 bytes");
  craft.tiny("ListsBeginElsewhere", 7, bytes_of("02000000  01 01  00"),
             "interactions: the list of user row 0 is not where");
  craft.tiny("ItemRowOutOfRange", 7, bytes_of("00000000  01 02  00"),
             "interactions: user row 0 has item row 2 of 2");
  craft.tiny("SecondItemRowOutOfRange", 7, bytes_of("00000000  02 00 01  00"),
             "interactions: user row 0 has item row 2 of 2");
  craft.tiny("DistanceThatOverflows", 7, bytes_of("00000000  02 01 ffffffff0f  00"),
             "interactions: user row 0 has item row 4294967297 of 2");
  craft.tiny("MoreItemsThanThereAre", 7, bytes_of("00000000  03 00 00 00  00"),
             "interactions: user row 0 has 3 of 2 items");
  craft.tiny("ListOfHugeCount", 7, bytes_of("00000000  ffffffff0f  00"),
             "interactions: user row 0 has 4294967295 of 2 items");
  craft.tiny("NumberThatOverflows", 7, bytes_of("00000000  01 ffffffff7f  00"),
             "interactions: a number of more than 32 bits");
  craft.tiny("NumberOfSixBytes", 7, bytes_of("00000000  01 808080808001  00"),
             "interactions: a number of more than 32 bits");
  craft.tiny("NeedlessByte", 7, bytes_of("00000000  01 8000  00"), "interactions: a needless zero");
  craft.tiny("ListPastTheEnd", 7, bytes_of("00000000  01 01"), "interactions: ends after");
  craft.tiny("ListsTooLong", 7, bytes_of("00000000  01 01  00 00"),
             "interactions: 1 bytes too many");
}

// The interactions of tiny_file() as bits: two users and two items, and so lists of 1 item and
// of 2.
void craft_list_bits(Crafter& craft) {
  const std::string begin = "00000000 ";
  const auto lists = [&](const char* name, const std::string& section, const std::string& what) {
    craft.parts(name, tiny_file(), "interactions: " + what, [&](RawFile& raw) {
      raw.version = 5;
      raw.lists = 1;
      raw.section(7) = bytes_of(section);
    });
  };
  const std::string parameters = "0000000000 0000000000 ";
  lists("NoBitsAtAll", "", "ends after 0 bytes");
  lists("HalfOfTheParameters", begin + "0000000000", "ends after 9 bytes");
  lists("NoBitsOfLists", begin + parameters, "ends after 0 bytes of bits");
  lists("BitsOfListsElsewhere", "01000000" + parameters + "00",
        "the list of user row 0 is not where the index says");
  // A difference of -1, and one of 3.
  lists("BitsOfAListOfLessThanNone", begin + parameters + "01", "user row 0 has -1 of 2 items");
  lists("BitsOfMoreItemsThanThereAre", begin + parameters + "1b", "user row 0 has 3 of 2 items");
  // One item, 2, with k = 0, and with k = 31 one far away.
  lists("BitsOfAnItemOutOfRange", begin + parameters + "6d 00", "user row 0 has item row 2 of 2");
  lists("BitsOfAnItemFarAway", begin + "00000000f8 0000000000 cdffffff2f",
        "user row 0 has item row 4294967294 of 2");
  lists("NumberOf34Bits", begin + "00000000f8 0000000000 3d0000000000",
        "a number of more than 33 bits at bit 3");
  lists("EndlessOnesInLists", begin + parameters + "ffffffffffffffffffff",
        "a number of more than 33 bits at bit 0");
  lists("BitsOfListsEndEarly", begin + parameters + "fd", "ends after 1 bytes of bits");
  lists("BitsBehindTheLists", begin + parameters + "10", "bits after the last number are not zero");
  lists("BytesBehindTheLists", begin + parameters + "00 00", "1 bytes too many");
  const std::string many = toy_bits_file();
  craft.parts("SecondBlockOfBitsElsewhere", many,
              "interactions: the list of user row 32 is not where",
              [](RawFile& raw) { ++raw.section(7)[4]; });
  craft.parts("BitsWithoutInteractions", many, "missing section: interactions",
              [](RawFile& raw) { raw.remove(7); });
  craft.parts("AFormOfNoInteractions", tiny_file(), "header: a form of interactions without",
              [](RawFile& raw) { raw.version = 5, raw.lists = 1, raw.remove(7); });
  craft.parts("BitsAsBytes", many, "header: version 5 for lightgcn",
              [](RawFile& raw) { raw.lists = 0; });
  craft.parts("Version4ForBits", many, "header: version 4 for lightgcn",
              [](RawFile& raw) { raw.version = 4; });
}

// Rows of one user, of size 1 or 2 of 3.
constexpr const char* kOne = "00000000 01000000 00000000 00000000 ";
constexpr const char* kTwo = "00000000 00000000 01000000 00000000 ";

RawFile one_user_file(std::uint8_t precision, std::uint8_t layout, const std::string& rows) {
  RawFile raw = take_apart(tiny_file());
  raw.users = 1;
  raw.max_dim = 3;
  raw.version = precision > 3 ? 3 : 1;
  raw.precision = precision;
  raw.item_precision = precision > 3 ? precision : 0;
  raw.layout = layout;
  raw.section(2) = bytes_of("00000000  00  01 'u'");
  raw.section(4) = bytes_of(rows);
  raw.section(5) = bytes_of("02000000 00000000 00000000 00000000");
  raw.section(7) = bytes_of("00000000  00");
  return raw;
}

// The row of a user, of size 5 of 5.
RawFile five_ternary_file(const std::string& byte) {
  RawFile raw = one_user_file(6, 0, "0000000000000000000000000000000000000000 01000000 a0" + byte);
  raw.max_dim = 5;
  raw.section(5) = bytes_of("02000000") + std::string(20, '\0');
  return raw;
}

void craft_rows(Crafter& craft) {
  craft.tiny("NoRowsAtAll", 4, "", "user rows: ends after 0 bytes");
  // One of each size and 2^32 more.
  craft.tiny("SizesThatOverflow", 4,
             bytes_of("00000080 01000080 01000000  0000803f 00000040  00004040"),
             "user rows: has sizes for 4294967298 rows instead of 2");
  craft.tiny("SizesOfTooManyRows", 4,
             bytes_of("01000000 01000000 01000000  0000803f 00000040  00004040"),
             "user rows: has sizes for 3 rows instead of 2");
  craft.tiny("TooFewValues", 4, bytes_of("00000000 00000000 02000000  0000803f 00000040  00004040"),
             "user rows: ends after");
  craft.tiny("TooManyValues", 4,
             bytes_of("00000000 02000000 00000000  0000803f 00000040  00004040"),
             "user rows: 4 bytes too many");
  craft.tiny("InfiniteValue", 4,
             bytes_of("00000000 01000000 01000000  0000803f 0000807f  00004040"),
             "user rows: a value in a row of size 2 is not a finite fp32");
  craft.tiny("ValueThatIsNoNumber", 5, bytes_of("01000000 00000000 01000000  0000003f ffffffff"),
             "item rows: a value in a row of size 2 is not a finite fp32");
  craft.tiny("InfiniteNorm", 6, bytes_of("793c 007c"), "item norms: the norm of item row 1");
  craft.tiny("NormThatIsNoNumber", 6, bytes_of("ff7f 0000"), "item norms: the norm of item row 0");
  craft.tiny("NegativeNorm", 6, bytes_of("79bc 0000"), "item norms: the norm of item row 0");
  craft.tiny("TooFewNorms", 6, bytes_of("793c"), "item norms: 2 bytes for 2 items");
  craft.tiny("TooManyNorms", 6, bytes_of("793c 0000 0000"), "item norms: 6 bytes for 2 items");

  const auto row = [&](const char* name, std::uint8_t precision, std::uint8_t layout,
                       const std::string& section, const std::string& what) {
    craft.parts(name, tiny_file(), what,
                [&](RawFile& raw) { raw = one_user_file(precision, layout, section); });
  };
  const std::string one = kOne;
  const std::string two = kTwo;
  row("InfiniteHalf", 1, 0, two + "003c 00fc",
      "user rows: a value in a row of size 2 is not a finite fp16");
  row("Int8Of128", 2, 0, two + "003c 0180",
      "user rows: a value in a row of size 2 is not a finite int8");
  row("Int8OfInfiniteScale", 2, 0, two + "007c 0101",
      "user rows: a value in a row of size 2 is not a finite");
  row("Int8OfNegativeScale", 2, 0, two + "00bc 0101",
      "user rows: a value in a row of size 2 is not a finite");
  row("Int8WithoutScale", 2, 0, two + "0101", "user rows: ends after");
  row("Int4LowNibble0", 3, 0, two + "003c f0",
      "user rows: a value in a row of size 2 is not a finite int4");
  row("Int4HighNibble0", 3, 0, two + "003c 0f",
      "user rows: a value in a row of size 2 is not a finite int4");
  row("Int4HalfByteNot8", 3, 0, one + "003c 9f",
      "user rows: a value in a row of size 1 is not a finite int4");
  row("Int4OfInfiniteScale", 3, 0, one + "007e 8f",
      "user rows: a value in a row of size 1 is not a finite int4");
  row("Int3UnusedLowBits", 4, 0, two + "a0 10 01",
      "user rows: a row of size 2 has codes that int3 does not have");
  row("Int3UnusedHighBit", 4, 0, two + "a0 01 04",
      "user rows: a row of size 2 has codes that int3 does not have");
  row("Int3WithoutHighBits", 4, 0, two + "a0 01", "user rows: ends after");
  row("Int2UnusedBits", 5, 0, two + "a0 80",
      "user rows: a row of size 2 has codes that int2 does not have");
  row("Int2WithoutScale", 5, 0, two + "01", "user rows: ends after");
  row("Int2WithAScaleOfTwoBytes", 5, 0, two + "000f 01", "user rows: 1 bytes too many");
  row("TernaryUnusedDigit", 6, 0, two + "a0 09",
      "user rows: a row of size 2 has codes that ternary does not have");
  craft.parts("TernaryByte243", tiny_file(),
              "user rows: a row of size 5 has codes that ternary does not have",
              [](RawFile& raw) { raw = five_ternary_file("f3"); });
  row("Int1UnusedBit", 7, 0, two + "a0 04",
      "user rows: a row of size 2 has codes that int1 does not have");
  row("BitmapOfTooFew", 0, 1, two + "04 0000803f 0000803f",
      "user rows: the bitmap of row 0 keeps 1 columns instead of 2");
  row("BitmapOfTooMany", 0, 1, two + "07 0000803f 0000803f",
      "user rows: the bitmap of row 0 keeps 3 columns instead of 2");
  row("BitmapBehindTheLastColumn", 0, 1, two + "09 0000803f 0000803f",
      "user rows: row 0 keeps column 3 of 3");
  row("WithoutBitmap", 0, 1, two + "0000803f 0000803f", "user rows: ends after");
}

// The frame of the rows above, with nothing wrong: they fail for their own reasons.
TEST(CraftedFile, TheFramesAreGood) {
  for (const auto& [precision, layout, values] :
       {std::tuple(0, 0, "0000803f 000080bf"), std::tuple(1, 0, "003c 003c"),
        std::tuple(2, 0, "003c 0181"), std::tuple(3, 0, "003c f1"), std::tuple(4, 0, "a0 0f 03"),
        std::tuple(5, 0, "00 0f"), std::tuple(6, 0, "ff 08"), std::tuple(7, 0, "a0 03"),
        std::tuple(0, 1, "06 0000803f 0000803f")}) {
    RawFile raw = one_user_file(static_cast<std::uint8_t>(precision),
                                static_cast<std::uint8_t>(layout), std::string(kTwo) + values);
    EXPECT_TRUE(opens_or_is_refused(raw.bytes(), Verify::kAll)) << precision << layout;
  }
  EXPECT_TRUE(opens_or_is_refused(five_ternary_file("f2").bytes(), Verify::kAll));
  EXPECT_TRUE(opens_or_is_refused(tiny_file(), Verify::kAll));
  EXPECT_TRUE(opens_or_is_refused(take_apart(toy_graph_file()).bytes(), Verify::kAll));
}

void expect_refused(void (*make)(Crafter&)) {
  Crafter craft;
  make(craft);
  ASSERT_FALSE(craft.all().empty());
  for (const auto& [name, what, file] : craft.all()) {
    for (const Verify verify : {Verify::kAll, Verify::kStructure}) {
      SCOPED_TRACE(name);
      const std::string error = error_at(file, verify);
      EXPECT_NE(error.find(what), std::string::npos) << error << "\ninstead of: " << what;
    }
  }
}

TEST(CraftedFile, HeadersAreRefused) { expect_refused(craft_headers); }
TEST(CraftedFile, DirectoriesAreRefused) { expect_refused(craft_directories); }
TEST(CraftedFile, FactsAreRefused) { expect_refused(craft_facts); }
TEST(CraftedFile, IdsAreRefused) { expect_refused(craft_ids); }
TEST(CraftedFile, NumbersAreRefused) { expect_refused(craft_numbers); }
TEST(CraftedFile, InteractionsAreRefused) { expect_refused(craft_interactions); }
TEST(CraftedFile, BitsOfInteractionsAreRefused) { expect_refused(craft_list_bits); }
TEST(CraftedFile, RowsAreRefused) { expect_refused(craft_rows); }

}  // namespace
}  // namespace bet
