#include "plan/budget.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace bet {
namespace {

using test::error_of;

constexpr TableShape kGowalla{29'858, 40'981, 128, 1};

TEST(Budget, SharesAreThePapersCounts) {
  EXPECT_EQ(kGowalla.full_params(), 9'067'392U);
  EXPECT_EQ(resolve_budget(parse_budget("20%"), kGowalla).params, 1'813'478U);
  EXPECT_EQ(resolve_budget(parse_budget("10%"), kGowalla).params, 906'739U);
  const ResolvedBudget five = resolve_budget(parse_budget("5%"), kGowalla);
  EXPECT_EQ(five.params, 453'369U);
  EXPECT_EQ(five.bytes, 4U * 453'369U + 8U * 129U);
  EXPECT_FALSE(five.covers_full);
}

TEST(Budget, UnitsOfBytes) {
  const auto bytes = [](const char* text) {
    return resolve_budget(parse_budget(text), kGowalla).bytes;
  };
  EXPECT_EQ(bytes("2MB"), 2'000'000U);
  EXPECT_EQ(bytes("1.8MB"), 1'800'000U);
  EXPECT_EQ(bytes("2MiB"), 2'097'152U);
  EXPECT_EQ(bytes("900kB"), 900'000U);
  EXPECT_EQ(bytes("900KB"), 900'000U);
  EXPECT_EQ(bytes("1024KiB"), 1'048'576U);
  EXPECT_EQ(bytes("1000000B"), 1'000'000U);
}

TEST(Budget, BytesPayForTheDirectoryToo) {
  const ResolvedBudget budget = resolve_budget(parse_budget("2MB"), kGowalla);
  EXPECT_EQ(budget.params, (2'000'000U - 8U * 129U) / 4U);
  EXPECT_LE(table_bytes(budget.params, kGowalla, Precision::kFloat32), 2'000'000U);
  EXPECT_GT(table_bytes(budget.params + 1, kGowalla, Precision::kFloat32), 2'000'000U);
}

TEST(Budget, ParametersAreTakenAsTheyAre) {
  EXPECT_EQ(resolve_budget(parse_budget("450000p"), kGowalla).params, 450'000U);
}

TEST(Budget, EnoughForTheFullTableIsSaid) {
  for (const char* text : {"100%", "250%", "9067392p", "1GB", "999999999999GB"}) {
    const ResolvedBudget budget = resolve_budget(parse_budget(text), kGowalla);
    EXPECT_TRUE(budget.covers_full) << text;
    EXPECT_EQ(budget.params, kGowalla.full_params()) << text;
  }
  EXPECT_FALSE(resolve_budget(parse_budget("99.99%"), kGowalla).covers_full);
}

TEST(Budget, TooSmallNamesTheSmallest) {
  const auto error = [](const char* text) {
    return error_of([&] { resolve_budget(parse_budget(text), kGowalla); });
  };
  EXPECT_NE(error("0.5%").find("the smallest is 0.7813%"), std::string::npos) << error("0.5%");
  EXPECT_NE(error("70838p").find("the smallest is 70839p"), std::string::npos);
  EXPECT_NE(error("1kB").find("the smallest is 284388B"), std::string::npos) << error("1kB");
  EXPECT_NE(error("64B").find("the smallest is 284388B"), std::string::npos);
  try {
    resolve_budget(parse_budget("0.5%"), kGowalla);
  } catch (const Error& thrown) {
    EXPECT_EQ(thrown.kind(), ErrorKind::kBudget);
  }
  for (const char* smallest : {"0.7813%", "70839p", "284388B"}) {
    EXPECT_GE(resolve_budget(parse_budget(smallest), kGowalla).params, 70'839U) << smallest;
  }
}

TEST(Budget, WithoutALeastSizeTakesOneParameter) {
  TableShape shape = kGowalla;
  shape.min_dim = 0;
  EXPECT_EQ(resolve_budget(parse_budget("1p"), shape).params, 1U);
  const std::string error = error_of([&] { resolve_budget(parse_budget("0.000001%"), shape); });
  EXPECT_NE(error.find("the smallest is 0.0001%"), std::string::npos) << error;
  EXPECT_GE(resolve_budget(parse_budget("0.0001%"), shape).params, 1U);
}

TEST(Budget, UnitsAreReadInAnyCaseAndAfterBlanks) {
  const std::pair<const char*, const char*> pairs[] = {
      {"5 %", "5%"},      {"2mb", "2MB"},          {"2mib", "2MiB"},      {"1.5 GiB", "1.5GiB"},
      {"900KB", "900kB"}, {"450000 P", "450000p"}, {"640  kib", "640KiB"}};
  for (const auto& [written, usual] : pairs) {
    const Budget budget = parse_budget(written);
    EXPECT_EQ(budget.text, usual);
    EXPECT_EQ(resolve_budget(budget, kGowalla).params,
              resolve_budget(parse_budget(usual), kGowalla).params)
        << written;
  }
}

TEST(Budget, IsAValueWithOneSpelling) {
  EXPECT_EQ(parse_budget("2 mb"), parse_budget("2MB"));
  EXPECT_FALSE(parse_budget("2MB") == parse_budget("2MiB"));
  TableShape shape = kGowalla;
  shape.min_dim = 0;  // so that small budgets are enough
  for (const char* text : {"5%", "450000p", "1.8MB", "64KiB", "4096B"}) {
    const Budget budget = parse_budget(text);
    EXPECT_EQ(parse_budget(budget.text), budget) << text;
    EXPECT_EQ(resolve_budget(budget, shape).requested, budget) << text;
  }
  EXPECT_EQ(parse_budget("1.8MB").bytes({}), 1'800'000U);
  EXPECT_EQ(parse_budget("999999999999GB").bytes({}), ~std::uint64_t{0}) << "more than 64 bits";
}

// Shares and parameters are limits on parameters alone, bytes on bytes alone.
TEST(Budget, AllowsWhatKeepsItInItsOwnUnit) {
  const ResolvedBudget params = resolve_budget(parse_budget("450000p"), kGowalla);
  EXPECT_TRUE(params.allows(450'000, 1'000'000'000));
  EXPECT_FALSE(params.allows(450'001, 0));
  const ResolvedBudget bytes = resolve_budget(parse_budget("2MB"), kGowalla, Precision::kInt8);
  EXPECT_EQ(bytes.precision, Precision::kInt8);
  EXPECT_TRUE(bytes.allows(9'000'000, 2'000'000));
  EXPECT_FALSE(bytes.allows(1, 2'000'001));
}

TEST(Budget, RefusesWhatIsNotABudget) {
  for (const char* text : {"", "5", "%", "-5%", "5e1%", "1.5p", "0%", "0MB", "two MB", "2M", "5%%",
                           "0x2p", "NaN%", "1,5MB", " 5%"}) {
    EXPECT_NE(error_of([&] { parse_budget(text); }).find("budget '"), std::string::npos) << text;
  }
}

// Masks are stored: with them a byte budget has fewer parameters, and any mask of that many
// parameters keeps it.
TEST(Budget, InBytesPaysForMasks) {
  TableShape shape{100, 50, 128, 0, 1, true};
  const ResolvedBudget masked = resolve_budget(parse_budget("10kB"), shape);
  EXPECT_LE(table_bytes(masked.params, shape, Precision::kFloat32), 10'000U);
  EXPECT_GT(table_bytes(masked.params + 1, shape, Precision::kFloat32), 10'000U);
  shape.masks = false;
  EXPECT_EQ(resolve_budget(parse_budget("10kB"), shape).params, masked.params + 150 * 16 / 4);
  EXPECT_EQ(resolve_budget(parse_budget("5%"), shape).params, 960U);
}

TEST(Budget, AShareOfTheBytesIsOneOfTheFullTableInFp32) {
  const TableShape shape{60, 90, 128, 0};
  const std::uint64_t full = 4 * 150 * 128 + 8 * 129;
  EXPECT_EQ(parse_budget("5%B").bytes(shape), full / 20);
  EXPECT_EQ(parse_budget("5 %b").text, "5%B");
  EXPECT_TRUE(parse_budget("5%B").in_bytes());
  EXPECT_FALSE(parse_budget("5%").in_bytes());
  const ResolvedBudget int2 = resolve_budget(parse_budget("10%B"), shape, Precision::kInt2);
  EXPECT_TRUE(int2.covers_full) << "all rows in two bits take 7 % of the bytes";
  const ResolvedBudget chosen = resolve_budget(parse_budget("10%B"), shape, std::nullopt);
  EXPECT_FALSE(chosen.covers_full) << "but full precision would be better";
  EXPECT_EQ(chosen.bytes, full / 10);
  EXPECT_TRUE(resolve_budget(parse_budget("100%B"), shape, std::nullopt).covers_full);
}

// A budget for the whole file: the table gets what the rest of the file leaves.
TEST(Budget, ForAFileLeavesTheTableTheRest) {
  const TableShape shape{100, 50, 16};
  constexpr std::uint64_t kBeside = 3'000;  // beside the table
  const ResolvedBudget budget =
      resolve_budget(parse_budget("10kB"), shape, Precision::kFloat32, kBeside);
  EXPECT_EQ(budget.target, BudgetFor::kFile);
  EXPECT_EQ(budget.bytes, 10'000U);
  EXPECT_EQ(budget.table_bytes, 7'000U);
  EXPECT_EQ(budget.params, resolve_budget(parse_budget("7kB"), shape).params);
  EXPECT_TRUE(budget.allows(1'000'000, 7'000));
  EXPECT_FALSE(budget.allows(1, 7'001));
  // What holds the full table and the rest needs no cut.
  EXPECT_TRUE(
      resolve_budget(parse_budget("13kB"), shape, Precision::kFloat32, kBeside).covers_full);
  EXPECT_FALSE(
      resolve_budget(parse_budget("12.7kB"), shape, Precision::kFloat32, kBeside).covers_full);

  const std::string error =
      error_of([&] { resolve_budget(parse_budget("3001B"), shape, Precision::kFloat32, kBeside); });
  EXPECT_NE(error.find("3000 bytes beside the table: the smallest is 3736B"), std::string::npos)
      << error;
  EXPECT_NO_THROW(resolve_budget(parse_budget("3736B"), shape, Precision::kFloat32, kBeside));
  EXPECT_THROW(resolve_budget(parse_budget("3735B"), shape, Precision::kFloat32, kBeside), Error);
  EXPECT_THROW(resolve_budget(parse_budget("50%"), shape, Precision::kFloat32, kBeside), Error);
}

}  // namespace
}  // namespace bet
