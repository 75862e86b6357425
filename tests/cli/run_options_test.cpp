#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cli/commands.h"
#include "cli/config_file.h"
#include "cli/run_identity.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::error_of;
using test::TempFolder;
using Words = std::vector<std::string>;

FitCommand options_of(const Config& entries) {
  Config all = {{"data", "demo"}};
  all.insert(all.end(), entries.begin(), entries.end());
  return parse_fit_options(all);
}

// The full-size model is the same for every budget, search and form of the file; each option of the
// configuration is either one of these or makes another model.
TEST(PretrainedIdentity, IsOfWhatDecidesTheFullSizeModel) {
  const Config base = {{"budget", "5%"}, {"user-share", "0.5"}, {"batch-size", "100"}};
  const std::string usual = pretrained_identity(options_of(base), "hash");
  const auto with = [&](const std::string& key, const std::string& value) {
    Config entries = base;
    std::erase_if(entries, [&](const ConfigEntry& entry) { return entry.key == key; });
    entries.push_back({key, value});
    return pretrained_identity(options_of(entries), "hash");
  };
  const std::pair<const char*, const char*> same[] = {
      {"budget", "10%"},       {"precision", "int8"},  {"serving", "materialised"},
      {"final", "all"},        {"threads", "3"},       {"iterations", "4"},
      {"candidates", "7"},     {"retrain-top", "2"},   {"finetune-epochs", "3"},
      {"selection", "random"}, {"cache", "/tmp/x"},    {"min-dim", "1"},
      {"user-share", "0.9"},   {"method", "ciess"},    {"format", "csv"},
      {"min-user-inter", "5"}, {"min-item-inter", "5"}};
  const std::pair<const char*, const char*> others[] = {
      {"split", "time"},    {"split-seed", "2"},
      {"backbone", "mf"},   {"schedule", "paper"},
      {"batch-size", "64"}, {"batches", "interactions"},
      {"negatives", "own"}, {"learning-rate", "0.5"},
      {"max-steps", "17"},  {"measure-steps", "3"},
      {"rows", "bf16"},     {"device", "cuda"},
      {"dim", "64"},        {"seed", "2"}};
  std::set<std::string> known = {"data", "effort"};  // the effort is resolved into others
  for (const auto& [key, value] : same) {
    EXPECT_EQ(with(key, value), usual) << key;
    known.insert(key);
  }
  for (const auto& [key, value] : others) {
    EXPECT_NE(with(key, value), usual) << key;
    known.insert(key);
  }
  EXPECT_NE(pretrained_identity(options_of(base), "other data"), usual);
  const auto paper_with_patience = [](const char* patience) {
    return pretrained_identity(
        options_of({{"budget", "5%"}, {"schedule", "paper"}, {"patience", patience}}), "hash");
  };
  EXPECT_NE(paper_with_patience("9"), paper_with_patience("2"));
  for (const ConfigEntry& entry : options_of(base).to_config()) {
    EXPECT_TRUE(known.contains(entry.key))
        << "does --" << entry.key << " decide the full-size model?";
  }
}

TEST(Resume, RefusesWhatContradictsTheRun) {
  const FitCommand kept = options_of({{"budget", "5%"}});
  const auto asked = [&](const std::string& key, const std::string& value) {
    Config entries = kept.to_config();
    std::erase_if(entries, [&](const ConfigEntry& entry) { return entry.key == key; });
    entries.push_back({key, value});
    return parse_fit_options(entries);
  };
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"threads", "1"}, {"cache", "/tmp/x"}, {"budget", "5 %"}, {"seed", "1"}}) {
    EXPECT_NO_THROW(refuse_contradictions(kept, asked(key, value), "run")) << key;
  }
  for (const auto& [key, value, was] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"budget", "20%", "--budget 5%"},
           {"seed", "2", "--seed 1"},
           {"precision", "int8", "--precision fp32"},
           {"min-rating", "4", "no --min-rating"}}) {
    const std::string error =
        error_of([&] { refuse_contradictions(kept, asked(key, value), "run"); });
    EXPECT_NE(error.find("--" + key + " " + value), std::string::npos) << error;
    EXPECT_NE(error.find(was), std::string::npos) << error;
  }
  FitCommand overwrites = kept;
  overwrites.overwrite = true;
  EXPECT_NE(error_of([&] { refuse_contradictions(kept, overwrites, "run"); }).find("--overwrite"),
            std::string::npos);
}

TEST(RunFolderName, TellsRunsApart) {
  const auto name = [](const Config& entries) {
    Config all = {{"budget", "5%"}};
    all.insert(all.end(), entries.begin(), entries.end());
    return options_of(all).folder().string();
  };
  EXPECT_EQ(name({}), "runs/demo-lightgcn-bet-5%-1");
  EXPECT_EQ(name({{"threads", "2"}, {"cache", "x"}, {"serving", "graph"}}), name({}));
  EXPECT_EQ(name({{"precision", "int8"}, {"serving", "materialised"}}),
            "runs/demo-lightgcn-bet-5%-1-int8-materialised");
  EXPECT_EQ(name({{"split", "time"}, {"split-seed", "3"}}),
            "runs/demo-lightgcn-bet-5%-1-time-split3");
  EXPECT_EQ(name({{"min-rating", "3.5"}, {"min-user-inter", "5"}, {"min-item-inter", "4"}}),
            "runs/demo-lightgcn-bet-5%-1-rating3.5-users5-items4");
  EXPECT_EQ(options_of({{"budget", "5 %"}}).folder().string(), "runs/demo-lightgcn-bet-5%-1");
}

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
