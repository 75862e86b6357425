#include "runtime/c_api_test.h"

#include <gtest/gtest.h>

#include <thread>

#include "bet/bet.h"
#include "runtime/raw_file.h"
#include "runtime/toy_model.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

TEST(CApi, WorksFromC) {
  const test::TempFolder folder;
  const std::string file = test::tiny_file();
  std::string damaged = file;
  const auto item_rows = test::number_at<std::uint64_t>(file, 64 + 4 * 32 + 8);
  damaged.at(item_rows + 15) ^= 1;
  const std::vector<std::byte> bytes = test::exact_bytes(file);
  EXPECT_EQ(check_c_api(folder.write("tiny.bet", file).c_str(),
                        folder.write("damaged.bet", damaged).c_str(), bytes.data(), bytes.size()),
            0)
      << "is the line of c_api_test.c; the last error: " << bet_error();
}

TEST(CApi, ErrorsBelongToTheirThread) {
  bet_model* model = nullptr;
  ASSERT_EQ(bet_open("/no/such/file", &model), BET_FAILED);
  std::thread([] {
    EXPECT_STREQ(bet_error(), "");
    EXPECT_EQ(bet_open(nullptr, nullptr), BET_BAD_CALL);
  }).join();
  EXPECT_NE(std::string(bet_error()).find("/no/such/file"), std::string::npos);
}

}  // namespace
}  // namespace bet
