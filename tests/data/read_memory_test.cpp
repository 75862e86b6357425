#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "data/load.h"
#include "support/sanitized.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

long peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

// Reading takes less than 8 bytes per line besides the ids, for lines in any order.
TEST(ReadMemory, PeaksUnderEightBytesALine) {
  if (test::kSanitized) GTEST_SKIP() << "the sanitizer's own memory would be measured";
  constexpr int kLines = 4'000'000;
  const test::TempFolder folder;
  const auto path = folder / "a.csv";
  {
    std::ofstream out(path);
    std::mt19937 random(1);
    std::string text = "user,item\n";
    for (int i = 0; i < kLines; ++i) {
      text += std::to_string(random() % 60'000) + "," + std::to_string(random() % 20'000) + "\n";
      if (text.size() > 1 << 20) {
        out << text;
        text.clear();
      }
    }
    out << text;
  }
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {  // a separate process, so that its peak is the reader's
    const long before = peak_bytes();
    const Dataset dataset = load_dataset(path);
    const long used = peak_bytes() - before;
    // 80,000 ids: numbers, hash slots, offsets and maps; and the block of text.
    const long ids_and_block = 80'000L * 60 + (2L << 20);
    _exit(dataset.num_users() == 60'000 && used < 8L * kLines + ids_and_block ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace bet
