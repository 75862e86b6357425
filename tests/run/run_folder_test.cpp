#include "run/run_folder.h"

#include <gtest/gtest.h>

#include <array>

#include "run/config.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::error_of;
using test::read_file;
using test::TempFolder;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RunFolder, OverwritesOnlyWhatSaysItselfThatItIsARun) {
  const TempFolder folder;
  folder.write("site/config.toml", "baseURL = \"https://example.org\"\n");
  folder.write("site/index.html", "precious");
  EXPECT_TRUE(contains(error_of([&] { RunFolder::create(folder / "site", true); }),
                       "is not a run folder of bet; it is not overwritten"));
  EXPECT_EQ(read_file(folder / "site/index.html"), "precious");
  EXPECT_TRUE(
      contains(error_of([&] { RunFolder::create(folder / "site", false); }), "exists already"));
}

TEST(RunFolder, RemovesItsOwnFilesAndRefusesForeignOnes) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "run";
  { RunFolder::create(path, false).log("one"); }
  const auto add = [&](const char* name) { folder.write(std::string("run/") + name, "x"); };
  for (const char* name : {"config.toml", "identity.txt", "report.json", "model.bet", "run.db",
                           "run.db-wal", "model.bet.tmp12-3", "checkpoint/state.ckpt", "stdin"}) {
    add(name);
  }
  for (const char* foreign : {"thesis.txt", "checkpoint/notes.txt", "model.bet.backup"}) {
    add(foreign);
    const std::string error = error_of([&] { RunFolder::create(path, true); });
    EXPECT_TRUE(contains(error, std::string("'") + foreign + "', which bet did not make")) << error;
    EXPECT_TRUE(std::filesystem::exists(path / "model.bet")) << "nothing is removed";
    std::filesystem::remove(path / foreign);
  }
  std::filesystem::create_directory(path / "images");
  EXPECT_TRUE(contains(error_of([&] { RunFolder::create(path, true); }), "'images'"));
  std::filesystem::remove(path / "images");
  const RunFolder again = RunFolder::create(path, true);
  EXPECT_FALSE(std::filesystem::exists(path / "model.bet"));
  EXPECT_FALSE(std::filesystem::exists(path / "model.bet.tmp12-3"));
  EXPECT_TRUE(std::filesystem::is_empty(path / "checkpoint"));
}

TEST(RunFolder, OfAnEarlierVersionIsKnownByTheHashOfItsData) {
  const TempFolder folder;
  folder.write("run/config.toml", "data = \"demo\"\n");
  folder.write("run/identity.txt", "0123456789abcdef0123456789abcdef\nseed = 1");
  RunFolder::open(folder / "run");
  RunFolder::create(folder / "run", true);
  EXPECT_FALSE(std::filesystem::exists(folder / "run/config.toml"));
}

TEST(RunFolder, ThatWasHalfMadeCanBeOverwritten) {
  const TempFolder folder;
  { RunFolder::create(folder / "run", false); }
  EXPECT_TRUE(contains(error_of([&] { RunFolder::open(folder / "run"); }),
                       "was interrupted before it began"));
  RunFolder::create(folder / "run", true);
}

TEST(RunFolder, HasOneWriterAndReadersBesideIt) {
  const TempFolder folder;
  folder.write("run/config.toml", "data = \"demo\"\n");
  {
    const RunFolder first = RunFolder::open(folder / "run");
    EXPECT_TRUE(contains(error_of([&] { RunFolder::open(folder / "run"); }),
                         "is in use by process " + std::to_string(::getpid())));
    EXPECT_TRUE(contains(error_of([&] { RunFolder::create(folder / "run", true); }), "in use by"));
    EXPECT_EQ(RunFolder::find(folder / "run/model.bet").folder, folder / "run");
  }
  RunFolder::open(folder / "run");
}

TEST(Config, KeepsEveryByteAndTheWholeRangeOfNumbers) {
  const TempFolder folder;
  const Config config = {
      {"data", "/tmp/caf\xe9/\x7f\n\"\\.csv"}, {"user-col", "plain"},
      {"item-col", "na\xc3\xafve\x7f"},        {"seed", "18446744073709551615", false},
      {"learning-rate", "0.5", false},         {"no-header", "true", false}};
  write_config(config, folder / "c.toml");
  const Config again = read_config(folder / "c.toml");
  ASSERT_EQ(again.size(), config.size());
  for (const ConfigEntry& entry : config) {
    const auto found = std::find_if(again.begin(), again.end(),
                                    [&](const auto& one) { return one.key == entry.key; });
    ASSERT_NE(found, again.end());
    EXPECT_EQ(found->value, entry.value) << entry.key;
  }
}

}  // namespace
}  // namespace bet
