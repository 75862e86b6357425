#include "base/files.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::error_of;
using test::read_file;
using test::TempFolder;

std::size_t num_files(const TempFolder& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    ++count;
  }
  return count;
}

TEST(AtomicFile, AppearsOnCommit) {
  const TempFolder folder;
  AtomicFile file(folder / "a");
  file.write("one ");
  file.write("two");
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  file.commit();
  EXPECT_EQ(read_file(folder / "a"), "one two");
  EXPECT_EQ(num_files(folder), 1U);
}

TEST(AtomicFile, LeavesTheOldFileAndNothingElseWithoutCommit) {
  const TempFolder folder;
  folder.write("a", "old");
  { AtomicFile(folder / "a").write("new"); }
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_EQ(num_files(folder), 1U);
}

TEST(AtomicFile, NamesThePathThatCannotBeWritten) {
  EXPECT_NE(error_of([] { AtomicFile("/no/such/folder/x"); }).find("/no/such/folder/x"),
            std::string::npos);
}

}  // namespace
}  // namespace bet
