#include <gtest/gtest.h>

#include <random>
#include <string>

#include "data/load.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::error_of;
using test::TempFolder;

struct BadFile {
  std::string text;
  std::string where;  // the text after the file's name
  std::string what;

  friend std::ostream& operator<<(std::ostream& out, const BadFile& file) {
    return out << file.what;
  }
};

class BadInput : public testing::TestWithParam<BadFile> {};

TEST_P(BadInput, IsNamedWithFileLineAndValue) {
  const TempFolder folder;
  const auto file = folder.write("in.csv", GetParam().text);
  const std::string error = error_of([&] { load_dataset(file); });
  EXPECT_NE(error.find(file.string() + GetParam().where), std::string::npos) << error;
  EXPECT_NE(error.find(GetParam().what), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadInput,
    testing::Values(
        BadFile{"", ":", "empty file"}, BadFile{"\n \r\n\n", ":", "empty file"},
        BadFile{"user,item\n", ":", "no interactions"}, BadFile{"alice\nbob\n", ":1", "'alice'"},
        BadFile{"user,item\n1,2\n3\n", ":3", "1 column, but 2 are needed"},
        BadFile{"user,item\n1,2\n,3\n", ":3", "empty user id"},
        BadFile{"user,item\n1,2\n3, \n", ":3", "empty item id"},
        BadFile{"user,item,rating\n1,2,3\n1,2,good\n", ":3", "rating 'good' is not a number"},
        BadFile{"user,item,rating\n1,2,nan\n", ":2", "rating 'nan' is not a number"},
        BadFile{"user,item,rating\n1,2,1e999\n", ":2", "rating '1e999' is not a number"},
        BadFile{"user,item,rating\n1,2,\n", ":2", "rating '' is not a number"},
        BadFile{"1\t2\t3\n1\t2\t3x\n", ":2", "rating '3x' is not a number"},
        BadFile{std::string("user,item\n1,2\n3,4\0\n", 19), ":3", "NUL byte"},
        BadFile{std::string("\0\0\0\0\0\0\0\0", 8), ":1", "NUL byte"},
        BadFile{"user,item\n1,2\n\"3,4\n", ":3", "unterminated quote"},
        BadFile{"user,item\n1,\"2\n3,4\n", ":2", "unterminated quote"},
        BadFile{"user,item\n1,\"2\"x\n", ":2", "closing quote"},
        BadFile{"user,item\n1,2\n" + std::string(4097, 'x') + ",2\n", ":3",
                "user id of 4097 bytes"},
        BadFile{"user,item\n1," + std::string(5000, 'y') + "\n", ":2", "item id of 5000 bytes"}));

TEST(BadInputPath, IsNamed) {
  const TempFolder folder;
  EXPECT_NE(error_of([&] { load_dataset(folder / "none.csv"); }).find("none.csv: cannot open"),
            std::string::npos);
  std::filesystem::create_directory(folder / "empty");
  EXPECT_NE(error_of([&] { load_dataset(folder / "empty"); }).find("folder without data"),
            std::string::npos);
}

TEST(HostileInput, LongestAllowedIdIsTaken) {
  const TempFolder folder;
  const std::string id(4096, 'x');
  EXPECT_EQ(load_dataset(folder.write("a.csv", "user,item\n" + id + ",2\n")).users.name(0), id);
}

TEST(HostileInput, TooManyOfAnythingIsRefused) {
  const TempFolder folder;
  ReadOptions options;
  options.max_count = 3;  // stands for 2^32 - 1
  const auto error = [&](const std::string& text) {
    return error_of([&] { load_dataset(folder.write("a.csv", "user,item\n" + text), options); });
  };
  EXPECT_NE(error("1,1\n2,1\n3,1\n4,1\n").find(":5: more than 3 different users"),
            std::string::npos);
  EXPECT_NE(error("1,1\n1,2\n1,3\n1,4\n").find(":5: more than 3 different items"),
            std::string::npos);
  EXPECT_NE(error("1,1\n1,2\n1,3\n1,2\n").find(":5: more than 3 interactions"), std::string::npos);
}

TEST(HostileInput, LinesLongerThanABlockAreRead) {
  const TempFolder folder;
  std::string line = "7";
  for (int i = 0; i < 400'000; ++i) line += " " + std::to_string(i);  // 2.7 MB
  const Dataset dataset = load_dataset(folder.write("a.txt", line + "\n8 1 2 3 4 5\n"));
  EXPECT_EQ(dataset.num_interactions(), 400'005U);
}

// Whatever the bytes, reading returns a data set or throws an Error (CI runs this test with the
// sanitizers).
TEST(HostileInput, RandomBytesNeverBreakTheReader) {
  const TempFolder folder;
  std::mt19937 random(7);
  const std::string alphabet = "0123456789,;\t :\"\n\r.aZ-\xff\x1f\x8b";
  for (int i = 0; i < 2000; ++i) {
    std::string text = i % 3 == 0 ? "user,item,rating\n" : i % 3 == 1 ? "\x1f\x8b\x08" : "";
    const std::size_t size = random() % 200;
    while (text.size() < size) text += alphabet[random() % alphabet.size()];
    const auto file = folder.write(i % 2 == 0 ? "a.csv" : "a.inter", text);
    try {
      const Dataset dataset = load_dataset(file);
      EXPECT_GT(dataset.num_interactions(), 0U);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace bet
