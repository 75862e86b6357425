#include "base/file_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::read_file;
using test::TempFolder;

TEST(FileLock, IsHeldByOneAndNamesTheHolder) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "lock";
  std::optional<FileLock> first = FileLock::take(path, "a text\n");
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(FileLock::take(path).has_value());
  EXPECT_EQ(FileLock::holder(path).rfind("process " + std::to_string(::getpid()) + " on ", 0), 0U);
  EXPECT_EQ(read_file(path).rfind("a text\nprocess ", 0), 0U);
  first.reset();
  EXPECT_TRUE(FileLock::take(path).has_value());
}

TEST(FileLock, EndsWithItsProcess) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "lock";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::optional<FileLock> lock = FileLock::take(path);
    ::pause();
    ::_exit(0);
  }
  while (FileLock::holder(path) == "another process") ::usleep(1000);
  EXPECT_FALSE(FileLock::take(path).has_value());
  EXPECT_EQ(FileLock::holder(path).rfind("process " + std::to_string(child), 0), 0U);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileLock::take(path).has_value());
}

TEST(FileLock, IsNotTakenOnWhatIsNotARegularFile) {
  const TempFolder folder;
  EXPECT_THROW(FileLock::take("/dev/null"), Error);
  EXPECT_THROW(FileLock::take(folder.path()), Error);
  std::filesystem::create_symlink("/etc/hostname", folder / "link");
  EXPECT_THROW(FileLock::take(folder / "link"), Error);
}

}  // namespace
}  // namespace bet
