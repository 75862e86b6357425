#include "run/test_hits.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

TEST(TestHits, AreReadAsTheyWereWritten) {
  const test::TempFolder folder;
  const std::vector<UserHits> users = {{0, 7}, {1, 1}, {(1U << 19) | (1U << 6) | 1U, 4}};
  write_test_hits(users, folder / "hits.csv");
  EXPECT_EQ(test::read_file(folder / "hits.csv"), "held_out,hits\n7,\n1,1\n4,1 7 20\n");
  EXPECT_EQ(read_test_hits(folder / "hits.csv"), users);
}

TEST(TestHits, AreRefusedWithTheirLine) {
  const test::TempFolder folder;
  for (const char* line : {"7", "0,", "3,21", "3,x", "x,1"}) {
    std::ofstream(folder / "hits.csv") << "held_out,hits\n7,1\n" << line << "\n";
    const std::string error = test::error_of([&] { read_test_hits(folder / "hits.csv"); });
    EXPECT_NE(error.find("line 3"), std::string::npos) << line << ": " << error;
  }
  std::ofstream(folder / "hits.csv") << "user,hits\n";
  EXPECT_NE(test::error_of([&] { read_test_hits(folder / "hits.csv"); }).find("line 1"),
            std::string::npos);
}

}  // namespace
}  // namespace bet
