#include "data/load.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::error_of;
using test::TempFolder;

using Pairs = std::set<std::pair<std::string, std::string>>;

Pairs pairs_of(const Dataset& dataset) {
  Pairs pairs;
  for (UserId user = 0; user < dataset.num_users(); ++user) {
    for (const ItemId item : dataset.interactions.row(user)) {
      pairs.emplace(dataset.users.name(user), dataset.items.name(item));
    }
  }
  return pairs;
}

const Pairs kThree = {{"1", "31"}, {"1", "1029"}, {"2", "31"}};

struct Example {
  std::string file;
  std::string text;
  std::string format;

  friend std::ostream& operator<<(std::ostream& out, const Example& example) {
    return out << example.format;
  }
};

class ReadsFormat : public testing::TestWithParam<Example> {};

TEST_P(ReadsFormat, ByDetection) {
  const TempFolder folder;
  const Dataset dataset = load_dataset(folder.write(GetParam().file, GetParam().text));
  EXPECT_EQ(pairs_of(dataset), kThree) << GetParam().text;
  EXPECT_EQ(dataset.format, GetParam().format);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, ReadsFormat,
    testing::Values(
        Example{"r.csv", "userId,movieId,rating,timestamp\n1,31,2.5,9\n1,1029,3,8\n2,31,4,7\n",
                "csv"},
        Example{"r.csv", "user_id,item_id\r\n1,31\r\n1,1029\r\n2,31\r\n", "csv"},
        Example{"r.csv", "title,item,user\nA,31,1\nB,1029,1\nA,31,2\n", "csv"},
        Example{"r.csv", "\xef\xbb\xbfuser,item\n1,31\n1,1029\n2,31", "csv"},
        Example{"r.csv",
                "\"User-ID\";\"ISBN\";\"Book-Rating\"\n\"1\";\"31\";\"0\"\n\"1\";\"1029\""
                ";\"5\"\n\"2\";\"31\";\"3\"\n",
                "csv"},
        Example{"r.tsv", "uid\tiid\n1\t31\n1\t1029\n2\t31\n", "tsv"},
        Example{"u.data", "1\t31\t3\t881250949\n1\t1029\t3\t891717742\n2\t31\t1\t878887116\n",
                "tsv"},
        Example{"r.txt", "1,31\n1,1029\n2,31\n", "csv"},
        Example{"r.dat", "1::31::5::978300760\n1::1029::3::978302109\n2::31::3::9\n", "colons"},
        Example{"r.txt", "1 31 5\n 1  1029 4 \n\n2\t31 3\n", "blank"},
        Example{"r.txt", "  1 , 31 , 5\n1,1029,4\n2 ,31,3\n", "csv"},
        Example{"m.inter",
                "user_id:token\titem_id:token\trating:float\n1\t31\t4\n1\t1029\t3\n2\t31\t2\n",
                "inter"},
        Example{"train.txt", "1 31 1029\n2 31\n", "lightgcn"}));

TEST(Load, KeepsStringIdsAndQuotedFields) {
  const TempFolder folder;
  const Dataset dataset = load_dataset(
      folder.write("a.csv", "user,item\nalice,\"x, \"\"y\"\"\"\n\"bob\" ,007\nJos\xc3\xa9,7\n"));
  EXPECT_EQ(pairs_of(dataset),
            (Pairs{{"alice", "x, \"y\""}, {"bob", "007"}, {"Jos\xc3\xa9", "7"}}));
}

TEST(Load, TakesColumnsByNameAndNumber) {
  const TempFolder folder;
  const auto named = folder.write("a.csv", "who,stars,what\nann,5,x\nbob,3,y\n");
  ReadOptions options;
  options.hints.user_col = "who";
  options.hints.item_col = "what";
  EXPECT_EQ(pairs_of(load_dataset(named, options)), (Pairs{{"ann", "x"}, {"bob", "y"}}));
  options.hints.user_col = "3";
  options.hints.item_col = "1";
  EXPECT_EQ(pairs_of(load_dataset(named, options)), (Pairs{{"x", "ann"}, {"y", "bob"}}));
  options.hints.item_col = "4";
  const std::string error = error_of([&] { load_dataset(named, options); });
  EXPECT_NE(error.find("--item-col: no column '4'"), std::string::npos) << error;
  EXPECT_NE(error.find("who, stars, what"), std::string::npos) << error;
}

TEST(Load, AsksForColumnsItCannotTell) {
  const TempFolder folder;
  const std::string error =
      error_of([&] { load_dataset(folder.write("a.csv", "who,what,when\n1,2,3\n4,5,6\n")); });
  EXPECT_NE(error.find("--user-col"), std::string::npos) << error;
}

TEST(Load, FormatOptionOverridesDetection) {
  const TempFolder folder;
  // Three integers per line, separated by blanks: detected as a table, read as adjacency if told
  // so.
  const auto file = folder.write("a.txt", "1 2 3\n4 5 6\n");
  EXPECT_EQ(load_dataset(file).num_interactions(), 2U);
  ReadOptions options;
  options.hints.format = "lightgcn";
  EXPECT_EQ(load_dataset(file, options).num_interactions(), 4U);
  options.hints.format = "json";
  EXPECT_NE(error_of([&] { load_dataset(file, options); }).find("'json'"), std::string::npos);
}

TEST(Load, MergesDuplicatesAndCountsThem) {
  const TempFolder folder;
  const Dataset dataset =
      load_dataset(folder.write("a.csv", "user,item\n1,2\n1,3\n1,2\n2,2\n1,2\n"));
  EXPECT_EQ(dataset.num_interactions(), 3U);
  EXPECT_EQ(dataset.duplicates, 2U);
}

TEST(Load, ALightGcnFolderKeepsItsParts) {
  const TempFolder folder;
  folder.write("d/train.txt", "0 5 6\n1 6\n3\n");
  folder.write("d/test.txt", "0 7 5\n1 5\n");
  const Dataset dataset = load_dataset(folder / "d");
  EXPECT_EQ(dataset.name, "d");
  EXPECT_EQ(pairs_of(dataset), (Pairs{{"0", "5"}, {"0", "6"}, {"0", "7"}, {"1", "5"}, {"1", "6"}}));
  EXPECT_EQ(dataset.duplicates, 1U) << "the pair 0 5 is in both parts";
  EXPECT_EQ(dataset.num_users(), 3U) << "a user without items is kept";
  // Row 0: items 5 and 6 are train's (5 of both parts counts as train), 7 is test's.
  EXPECT_EQ(dataset.interactions.in_test, (std::vector<bool>{false, false, true, true, false}));
  EXPECT_EQ(dataset.columns, "a user and its items on each line, no header");
}

TEST(Load, FindsTheOneFileOfAFolder) {
  const TempFolder folder;
  folder.write("ml/ratings.csv", "userId,movieId\n1,2\n");
  folder.write("ml/movies.csv", "movieId,title\n2,x\n");
  EXPECT_EQ(load_dataset(folder / "ml").num_interactions(), 1U);
  folder.write("two/a.csv", "user,item\n1,2\n");
  folder.write("two/b.csv", "user,item\n1,2\n");
  EXPECT_NE(error_of([&] { load_dataset(folder / "two"); }).find("a.csv, b.csv"),
            std::string::npos);
}

std::string gzip(const std::string& text) {
  std::string out(text.size() + 100, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string many_lines(int count) {
  std::string text = "user,item\n";
  for (int i = 0; i < count; ++i) {
    text += std::to_string(i % 1000) + "," + std::to_string(i / 1000) + "\n";
  }
  return text;
}

TEST(Load, ReadsCompressedFilesAlike) {
  const TempFolder folder;
  const std::string text = many_lines(300'000);  // several blocks
  const std::string hash = load_dataset(folder.write("a.csv", text)).hash();
  EXPECT_EQ(load_dataset(folder.write("a.csv.gz", gzip(text))).hash(), hash);
  EXPECT_EQ(load_dataset(folder.write("a.csv.zst", zstd(text))).hash(), hash);
  const std::string half = text.substr(0, text.size() / 2);
  const std::string rest = text.substr(text.size() / 2);
  EXPECT_EQ(load_dataset(folder.write("b.csv.gz", gzip(half) + gzip(rest))).hash(), hash);
  EXPECT_EQ(load_dataset(folder.write("b.csv.zst", zstd(half) + zstd(rest))).hash(), hash);
  EXPECT_EQ(load_dataset(folder / "a.csv.gz").name, "a");
}

TEST(Load, SaysWhenCompressedDataIsCutOffOrDamaged) {
  const TempFolder folder;
  const std::string text = many_lines(100'000);
  for (const auto& [name, bytes] :
       {std::pair<const char*, std::string>{"a.gz", gzip(text)}, {"a.zst", zstd(text)}}) {
    for (const std::size_t size : {bytes.size() - 1, bytes.size() / 2, std::size_t{20}}) {
      const auto file = folder.write(name, bytes.substr(0, size));
      const std::string error = error_of([&] { load_dataset(file); });
      EXPECT_NE(error.find("truncated"), std::string::npos) << error;
      EXPECT_NE(error.find(file.string()), std::string::npos) << error;
    }
    std::string damaged = bytes;
    for (std::size_t i = damaged.size() / 3; i < damaged.size() / 3 + 64; ++i) damaged[i] ^= 0x55;
    const auto file = folder.write(name, damaged);
    EXPECT_THROW(load_dataset(file), Error);
  }
}

TEST(Load, DoesNotDependOnTheOrderOfLines) {
  const TempFolder folder;
  std::vector<std::string> lines;
  for (int i = 0; i < 5000; ++i) {
    lines.push_back(std::to_string(i * 37 % 211) + "," + std::to_string(i * 53 % 97) + "\n");
  }
  const auto text = [&] {
    std::string all = "user,item\n";
    for (const std::string& line : lines) all += line;
    return all;
  };
  const std::string hash = load_dataset(folder.write("a.csv", text())).hash();
  std::shuffle(lines.begin(), lines.end(), std::mt19937(1));
  EXPECT_EQ(load_dataset(folder.write("b.csv", text())).hash(), hash);
  lines[0] = "0,1000\n";
  EXPECT_NE(load_dataset(folder.write("c.csv", text())).hash(), hash);
}

TEST(Load, MinRatingLeavesOutAndCounts) {
  const TempFolder folder;
  const auto file = folder.write("a.csv", "user,item,rating\n1,2,3.5\n1,3,4\n2,2,1\n3,9,-2e0\n");
  ReadOptions options;
  options.min_rating = 3.5;
  const Dataset dataset = load_dataset(file, options);
  EXPECT_EQ(pairs_of(dataset), (Pairs{{"1", "2"}, {"1", "3"}}));
  EXPECT_EQ(dataset.below_min_rating, 2U);
  options.min_rating = 9;
  EXPECT_NE(error_of([&] { load_dataset(file, options); }).find("all 4 are rated below"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              load_dataset(folder.write("b.csv", "user,item\n1,2\n"), options);
            }).find("--min-rating needs a rating column"),
            std::string::npos);
}

TEST(Load, KeepsTheEarliestTimeOfAPair) {
  const TempFolder folder;
  const auto file = folder.write("a.tsv", "1\t5\t1\t300\n1\t4\t1\t200\n1\t5\t1\t1e2\n");
  ReadOptions options;
  options.with_times = true;
  const Dataset dataset = load_dataset(file, options);
  ASSERT_EQ(dataset.interactions.times.size(), 2U);
  EXPECT_EQ(dataset.interactions.times[0], 200.0);
  EXPECT_EQ(dataset.interactions.times[1], 100.0);
}

TEST(Load, SharedDataSetsHaveTheCountsOfTheirReadme) {
  struct Counts {
    const char* name;
    std::uint64_t users, items, interactions;
  };
  for (const Counts& counts :
       {Counts{"gowalla", 29'858, 40'981, 1'027'370}, Counts{"yelp2018", 31'668, 38'048, 1'561'406},
        Counts{"ml-100k", 943, 1'682, 100'000}, Counts{"ml-latest-small", 671, 9'066, 100'004}}) {
    const auto path = test::shared_data(counts.name);
    if (path.empty()) GTEST_SKIP() << "no shared/data beside the project";
    const Dataset dataset = load_dataset(path);
    EXPECT_EQ(dataset.num_users(), counts.users) << counts.name;
    EXPECT_EQ(dataset.num_items(), counts.items) << counts.name;
    EXPECT_EQ(dataset.num_interactions(), counts.interactions) << counts.name;
    EXPECT_EQ(dataset.duplicates, 0U) << counts.name;
  }
}

}  // namespace
}  // namespace bet
