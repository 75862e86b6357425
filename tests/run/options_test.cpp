#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "run/option_table.h"
#include "run/run_identity.h"
#include "support/expect_error.h"

namespace bet {
namespace {

using test::error_of;

FitOptions options_of(const Config& entries) {
  Config all = {{"data", "demo"}};
  all.insert(all.end(), entries.begin(), entries.end());
  return options_from(all);
}

// A softmax that is chosen has more shared negatives; BPR has those of --loss bpr.
TEST(LossAuto, HasNegativesByTheLoss) {
  const auto negatives = [](const char* backbone, LossKind kind) {
    const FitOptions options =
        with_defaults(options_of({{"budget", "5%"}, {"loss", "auto"}, {"backbone", backbone}}));
    return with_loss(options, {.kind = kind}).negatives;
  };
  EXPECT_EQ(negatives("lightgcn", LossKind::kSoftmax), 128U);
  EXPECT_EQ(negatives("lightgcn", LossKind::kBpr), 32U);
  EXPECT_EQ(negatives("ncf", LossKind::kSoftmax), 32U);
  const FitOptions asked = with_defaults(options_of({{"budget", "5%"}, {"negatives", "256"}}));
  EXPECT_EQ(with_loss(asked, {.kind = LossKind::kBpr}).negatives, 256U);
}

// The model of a quick search is trained for as long as the one of equal sizes beside it.
TEST(Effort, DecidesHowManyPlansAreTriedAndNotHowLongTheyAreTrained) {
  const auto options = [](const char* effort) {
    return with_defaults(options_of({{"budget", "5%"}, {"effort", effort}}));
  };
  EXPECT_LT(options("quick").search.iterations, options("normal").search.iterations);
  EXPECT_LT(options("normal").search.iterations, options("thorough").search.iterations);
  for (const char* effort : {"quick", "normal", "thorough"}) {
    EXPECT_EQ(options(effort).max_steps, 800U) << effort;
  }
}

// The full-size model is the same for every budget, search and form of the file; each option of the
// configuration is either one of these or makes another model.
TEST(PretrainedIdentity, IsOfWhatDecidesTheFullSizeModel) {
  const Config base = {
      {"budget", "5%"}, {"user-share", "0.5"}, {"batch-size", "100"}, {"loss", "bpr"}};
  const auto identity_of = [](const FitOptions& options) {
    return pretrained_identity(search_options(with_defaults(options)), "hash");
  };
  const std::string usual = identity_of(options_of(base));
  // What comes before a plan is by BPR where the loss is chosen.
  Config chosen = base;
  chosen.back().value = "auto";
  EXPECT_EQ(identity_of(options_of(chosen)), usual);
  const auto with = [&](const std::string& key, const std::string& value) {
    Config entries = base;
    std::erase_if(entries, [&](const ConfigEntry& entry) { return entry.key == key; });
    entries.push_back({key, value});
    return identity_of(options_of(entries));
  };
  const std::pair<const char*, const char*> same[] = {
      {"budget", "10%"},       {"precision", "int8"},   {"serving", "materialised"},
      {"final", "all"},        {"threads", "3"},        {"iterations", "4"},
      {"candidates", "7"},     {"retrain-top", "2"},    {"finetune-epochs", "3"},
      {"selection", "random"}, {"cache", "/tmp/x"},     {"min-dim", "1"},
      {"user-share", "0.9"},   {"method", "ciess"},     {"format", "csv"},
      {"min-user-inter", "5"}, {"min-item-inter", "5"}, {"seen", "keep"},
      {"budget-for", "table"}};
  const std::pair<const char*, const char*> others[] = {
      {"split", "time"},    {"split-seed", "2"},
      {"backbone", "mf"},   {"schedule", "paper"},
      {"batch-size", "64"}, {"batches", "interactions"},
      {"negatives", "own"}, {"learning-rate", "0.5"},
      {"max-steps", "17"},  {"measure-steps", "3"},
      {"rows", "bf16"},     {"device", "cuda"},
      {"dim", "64"},        {"seed", "2"},
      {"loss", "softmax"},  {"score", "cosine"}};
  // The effort is resolved into others; columns are divided where nothing is pretrained.
  std::set<std::string> known = {"data", "effort", "divide"};
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
  for (const ConfigEntry& entry : to_config(options_of(base))) {
    EXPECT_TRUE(known.contains(entry.key))
        << "does --" << entry.key << " decide the full-size model?";
  }
}

TEST(Resume, RefusesWhatContradictsTheRun) {
  const FitOptions kept = options_of({{"budget", "5%"}});
  const auto asked = [&](const std::string& key, const std::string& value) {
    Config entries = to_config(kept);
    std::erase_if(entries, [&](const ConfigEntry& entry) { return entry.key == key; });
    entries.push_back({key, value});
    return options_from(entries);
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
}

// What a run keeps is enough to start it again, whatever was given.
TEST(OptionTable, EveryOptionIsReadBackFromTheConfiguration) {
  for (const Config& given : std::vector<Config>{
           {{"budget", "5 %"}},
           {{"budget", "2MiB"},
            {"effort", "thorough"},
            {"backbone", "ngcf"},
            {"precision", "int4"}},
           {{"budget", "10%"}, {"schedule", "paper"}, {"patience", "7"}, {"rows", "bf16"}},
           {{"method", "ciess"}, {"budget", "10%"}, {"memory-weight", "0.3"}, {"iterations", "5"}},
           {{"method", "sided"}, {"budget", "10%"}, {"user-share", "0.125"}, {"final", "all"}},
           {{"method", "full"}, {"no-header", "true"}, {"user-col", "2"}, {"min-rating", "3.5"}},
           {{"method", "esapn"}, {"seed", "18446744073709551615"}, {"serving", "materialised"}}}) {
    const FitOptions options = options_of(given);
    const Config config = to_config(options);
    const Config again = to_config(options_from(config));
    ASSERT_EQ(config.size(), again.size());
    for (std::size_t i = 0; i < config.size(); ++i) {
      EXPECT_EQ(config[i].key, again[i].key);
      EXPECT_EQ(config[i].value, again[i].value) << config[i].key;
    }
    for (const ConfigEntry& entry : given) {
      const auto found = std::find_if(config.begin(), config.end(),
                                      [&](const auto& one) { return one.key == entry.key; });
      ASSERT_NE(found, config.end()) << entry.key;
      EXPECT_EQ(found->value, entry.value == "5 %" ? "5%" : entry.value);
    }
  }
}

// p-values of large data sets are below the smallest normal number.
TEST(ShortestText, ReadsBackAsTheSameNumber) {
  for (const double value : {0.0, 1.0, -0.1, 1.0 / 3, 1e300, 3e-308, 1e-310, 5e-324, -2.5e-320}) {
    EXPECT_EQ(std::strtod(shortest_text(value).c_str(), nullptr), value) << shortest_text(value);
  }
  EXPECT_EQ(shortest_text(0.05), "0.05");
  EXPECT_EQ(shortest_text(5e-324), "5e-324");
}

TEST(OptionTable, RefusesWhatIsNoValueAndNamesTheOption) {
  const auto error = [](const char* key, const char* value) {
    return error_of([&] { options_of({{key, value}}); });
  };
  EXPECT_EQ(error("dim", "0"), "--dim: 0 is not between 1 and 32767");
  EXPECT_EQ(error("dim", "x"), "--dim: 'x' is not a number");
  EXPECT_EQ(error("seed", "-1"), "--seed: '-1' is not a whole number of 0 or more");
  EXPECT_EQ(error("seed", "18446744073709551616"), "--seed: 18446744073709551616 is too large");
  EXPECT_EQ(error("schedule", "slow"), "--schedule: 'slow' is not one of fast, paper");
  EXPECT_EQ(error("learning-rate", "nan"), "--learning-rate: 'nan' is not a finite number");
  EXPECT_EQ(error("iterations", "1.5"), "--iterations: '1.5' is not a whole number of 0 or more");
  EXPECT_EQ(error("bugdet", "5%"), "unknown option 'bugdet'");
}

// The table is the only list: an option of a method that has none of it does not count.
TEST(OptionTable, OptionsOfOtherMethodsDoNotCount) {
  const auto identity = [](const Config& more) {
    Config entries = {{"method", "es"}, {"budget", "5%"}};
    entries.insert(entries.end(), more.begin(), more.end());
    return run_identity(options_of(entries), "hash");
  };
  EXPECT_EQ(identity({{"iterations", "5"}, {"user-share", "0.5"}}), identity({}));
  EXPECT_NE(identity({{"seed", "5"}}), identity({}));
}

TEST(RunFolderName, TellsRunsApart) {
  const auto name = [](const Config& entries) {
    Config all = {{"budget", "5%"}};
    all.insert(all.end(), entries.begin(), entries.end());
    return default_folder(options_of(all)).string();
  };
  EXPECT_EQ(name({}), "runs/demo-lightgcn-bet-5%-1");
  EXPECT_EQ(name({{"threads", "2"}, {"cache", "x"}, {"serving", "graph"}}), name({}));
  EXPECT_EQ(name({{"precision", "int8"}, {"serving", "materialised"}}),
            "runs/demo-lightgcn-bet-5%-1-int8-materialised");
  EXPECT_EQ(name({{"split", "time"}, {"split-seed", "3"}}),
            "runs/demo-lightgcn-bet-5%-1-time-split3");
  EXPECT_EQ(name({{"min-rating", "3.5"}, {"min-user-inter", "5"}, {"min-item-inter", "4"}}),
            "runs/demo-lightgcn-bet-5%-1-rating3.5-users5-items4");
  EXPECT_EQ(default_folder(options_of({{"budget", "5 %"}})).string(),
            "runs/demo-lightgcn-bet-5%-1");
}

}  // namespace
}  // namespace bet
