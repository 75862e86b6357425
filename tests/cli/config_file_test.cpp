#include "cli/config_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/commands.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::TempFolder;
using Words = std::vector<std::string>;

struct Program {
  CLI::App app{"", "bet"};
  Program() {
    add_fit(app);
    add_resume(app);
  }
};

TEST(ConfigFile, DataOfTheCommandLineWinsWhereverItStands) {
  const TempFolder folder;
  const std::string config =
      folder.write("c.toml", "data = \"old.csv\"\nbudget = \"5%\"\nseed = 3\n").string();
  const Program program;
  const auto words = [&](const Words& line) { return with_config_file(program.app, line); };
  for (const Words& line :
       std::vector<Words>{{"fit", "new.csv", "--config", config},
                          {"fit", "--config", config, "new.csv"},
                          {"fit", "--config=" + config, "--quiet", "new.csv"},
                          {"fit", "--seed", "4", "--config", config, "new.csv"}}) {
    const Words all = words(line);
    EXPECT_EQ(std::count(all.begin(), all.end(), "old.csv"), 0) << testing::PrintToString(line);
    EXPECT_EQ(std::count(all.begin(), all.end(), "--budget=5%"), 1);
  }
  const Words without = words({"fit", "--seed", "4", "--config", config});
  EXPECT_EQ(std::count(without.begin(), without.end(), "old.csv"), 1);
  EXPECT_EQ(std::count(without.begin(), without.end(), "--seed=3"), 0);
}

TEST(ConfigFile, ResumeFindsTheRunBehindOptions) {
  const TempFolder folder;
  folder.write("run/config.toml", "data = \"demo\"\n");
  const std::string run = (folder / "run").string();
  const Program program;
  for (const Words& line : std::vector<Words>{{"resume", run, "--quiet"},
                                              {"resume", "--quiet", run},
                                              {"resume", "--threads", "2", run},
                                              {"resume", "--quiet", run + "/model.bet"}}) {
    const Words all = resume_as_fit(program.app, line);
    EXPECT_EQ(all[0], "fit") << testing::PrintToString(line);
    EXPECT_EQ(all[1], "--out=" + run);
    EXPECT_EQ(all[2], "--resume");
    EXPECT_EQ(std::count(all.begin(), all.end(), run), 0);
  }
  EXPECT_EQ(resume_as_fit(program.app, {"resume"}), Words{"resume"});
  EXPECT_EQ(resume_as_fit(program.app, {"resume", run, run})[0], "resume");
}

}  // namespace
}  // namespace bet
