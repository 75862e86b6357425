#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

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

// A device or FIFO is written to; a rename would put a regular file in its place.
TEST(AtomicFile, LeavesWhatIsNotARegularFileWhatItIs) {
  const TempFolder folder;
  const std::string fifo = (folder / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = read_file(fifo); });
  write_file(fifo, "through");
  reader.join();
  EXPECT_EQ(read, "through");
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
  write_file("/dev/null", "away");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_NE(error_of([&] { write_file(folder.path(), "x"); }).find("is a folder"),
            std::string::npos);
}

TEST(AtomicFile, ReplacesTheTargetOfALink) {
  const TempFolder folder;
  folder.write("real/file", "old");
  std::filesystem::create_symlink("real/file", folder / "link");
  std::filesystem::create_symlink("link", folder / "twice");
  write_file(folder / "twice", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "twice"));
  EXPECT_EQ(read_file(folder / "real/file"), "new");
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_NE(error_of([&] { write_file(folder / "loop", "x"); }).find("too many symbolic links"),
            std::string::npos);
}

// Somebody may have put a link where a temporary file would be.
TEST(AtomicFile, NeverWritesThroughALinkInThePlaceOfItsTemporaryFile) {
  const TempFolder folder;
  folder.write("precious", "keep");
  for (int number = 0; number < 2000; ++number) {
    std::error_code ignored;
    std::filesystem::create_symlink(
        "precious", folder / ("a.tmp" + std::to_string(::getpid()) + "-" + std::to_string(number)),
        ignored);
  }
  write_file(folder / "a", "new");
  EXPECT_EQ(read_file(folder / "precious"), "keep");
  EXPECT_EQ(read_file(folder / "a"), "new");
}

}  // namespace
}  // namespace bet
