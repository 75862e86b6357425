#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "support/run_program.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::by_bpr;
using test::ProgramResult;
using test::read_file;
using test::run_bet;
using test::TempFolder;
using Json = nlohmann::json;

// Starts `bet` with stdout thrown away and stderr in a file. With `most_bytes` no file of it may
// grow larger: writing then fails as on a full disk.
pid_t start_bet(const std::vector<std::string>& given, rlim_t most_bytes = RLIM_INFINITY,
                const std::string& err = "/dev/null") {
  const pid_t child = fork();
  if (child != 0) return child;
  const std::vector<std::string> line = by_bpr(given);
  std::vector<char*> arguments = {const_cast<char*>("bet")};
  for (const std::string& word : line) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  if (std::freopen("/dev/null", "w", stdout) == nullptr ||
      std::freopen(err.c_str(), "w", stderr) == nullptr) {
    _exit(99);
  }
  const rlimit limit = {most_bytes, most_bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
  signal(SIGXFSZ, SIG_IGN);
  execv(BET_PROGRAM, arguments.data());
  _exit(98);
}

// -signal if it was killed.
int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void wait_until(const std::function<bool()>& ready) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!ready() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Sends the signal as soon as `ready`, and waits for the end.
int run_until(const std::vector<std::string>& line, const std::function<bool()>& ready,
              int signal_number) {
  const pid_t child = start_bet(line);
  wait_until(ready);
  kill(child, signal_number);
  return wait_for(child);
}

// Whether a file is there, of so many bytes at least.
std::function<bool()> has_file(const std::filesystem::path& file, std::uintmax_t bytes = 0) {
  return [=] {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    return !error && size >= bytes;
  };
}

// What a few trainings of a search add to run.db's log, about: the plans.
constexpr std::uintmax_t kSomeTrainings = 150'000;

TEST(FitInterruption, ATrainingKilledAnywhereEndsWithTheSameReport) {
  const TempFolder folder;
  const auto line = [&](const char* name) {
    return std::vector<std::string>{"fit",
                                    "demo",
                                    "--quiet",
                                    "--method",
                                    "es",
                                    "--budget",
                                    "20%",
                                    "--max-steps",
                                    "120",
                                    "--out",
                                    (folder / name).string()};
  };
  ASSERT_EQ(run_bet(line("whole")).exit_code, 0);
  const Json whole = Json::parse(read_file(folder / "whole/report.json"));
  for (const std::string name : {"config.toml", "checkpoint/state.ckpt"}) {
    const std::string run = "killed-" + name.substr(0, 6);
    EXPECT_EQ(run_until(line(run.c_str()), has_file(folder / run / name), SIGKILL), -SIGKILL);
    const ProgramResult resumed = run_bet({"resume", (folder / run).string(), "--quiet"});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    const Json report = Json::parse(read_file(folder / run / "report.json"));
    EXPECT_EQ(report["test"], whole["test"]);
    EXPECT_EQ(report["validation"], whole["validation"]);
    EXPECT_EQ(report["steps"], whole["steps"]);
    EXPECT_EQ(report["curves"], whole["curves"]);
    EXPECT_EQ(report["sizes"], whole["sizes"]);
  }
}

// A small search whose every part takes long enough to be killed in.
std::vector<std::string> search_line(const TempFolder& folder, const std::string& name,
                                     const std::string& dim = "16",
                                     const std::string& budget = "20%") {
  return {"fit",
          "demo",
          "--quiet",
          "--budget",
          budget,
          "--effort",
          "quick",
          "--retrain-top",
          "1",
          "--iterations",
          "8",
          "--dim",
          dim,
          "--max-steps",
          "30",
          "--out",
          (folder / name).string(),
          "--cache",
          (folder / (name + "-cache")).string()};
}

// A search that is never over.
std::vector<std::string> long_search_line(const TempFolder& folder, const std::string& name) {
  std::vector<std::string> line = search_line(folder, name, "32");
  *(std::ranges::find(line, "--iterations") + 1) = "100000";
  *(std::ranges::find(line, "--max-steps") + 1) = "60";
  return line;
}

TEST(FitInterruption, ASearchKilledAnywhereEndsWithTheSameReport) {
  const TempFolder folder;
  ASSERT_EQ(run_bet(search_line(folder, "whole")).exit_code, 0);
  const Json whole = Json::parse(read_file(folder / "whole/report.json"));
  const std::pair<const char*, std::uintmax_t> places[] = {
      {"run.db-wal", 0}, {"run.db-wal", kSomeTrainings}, {"checkpoint/state.ckpt", 0}};
  int number = 0;
  for (const auto& [file, size] : places) {
    const std::string run = "killed-" + std::to_string(number++);
    const int status =
        run_until(search_line(folder, run), has_file(folder / run / file, size), SIGKILL);
    EXPECT_TRUE(status == -SIGKILL || status == 0);
    const ProgramResult resumed = run_bet({"resume", (folder / run).string(), "--quiet"});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    Json report = Json::parse(read_file(folder / run / "report.json"));
    for (const char* key : {"test", "validation"}) EXPECT_EQ(report[key], whole[key]) << file;
    EXPECT_EQ(report["chosen"]["iteration"], whole["chosen"]["iteration"]);
    ASSERT_EQ(report["trials"].size(), whole["trials"].size());
    for (std::size_t i = 0; i < whole["trials"].size(); ++i) {
      EXPECT_EQ(report["trials"][i]["fitness"], whole["trials"][i]["fitness"]);
    }
    EXPECT_EQ(read_file(folder / run / "checkpoint/final.ckpt"),
              read_file(folder / "whole/checkpoint/final.ckpt"));
  }
}

// A method's own search, and the retraining after it; its state is there until the report is.
TEST(FitInterruption, AComparedMethodKilledAnywhereEndsWithTheSameReport) {
  const TempFolder folder;
  const std::string cache = (folder / "cache").string();
  for (const std::string method : {"pep", "ciess", "bet-paper"}) {
    const auto line = [&](const std::string& name) {
      std::vector<std::string> words = {"fit",      "demo",  "--quiet", "--method",    method,
                                        "--budget", "10%",   "--loss",  "bpr",         "--effort",
                                        "quick",    "--dim", "16",      "--max-steps", "50",
                                        "--cache",  cache,   "--out"};
      words.push_back((folder / name).string());
      if (method == "ciess") words.insert(words.end(), {"--iterations", "4"});
      if (method == "bet-paper") {
        words.insert(words.end(), {"--iterations", "5", "--candidates", "6", "--finetune-epochs",
                                   "2", "--retrain-top", "2"});
      }
      return words;
    };
    ASSERT_EQ(run_bet(line(method)).exit_code, 0);
    const Json whole = Json::parse(read_file(folder / method / "report.json"));
    EXPECT_FALSE(std::filesystem::exists(folder / method / "checkpoint/method.ckpt"));
    // Under way, at its end, and in the retraining.
    const std::string own = method == "bet-paper" ? "run.db-wal" : "checkpoint/method.ckpt";
    for (const std::string& file :
         {std::string("log.txt"), own, std::string("checkpoint/state.ckpt")}) {
      const std::string run = method + "-" + file.substr(file.find('/') + 1);
      const std::uintmax_t bytes = file == "log.txt" ? 400 : 0;
      EXPECT_EQ(run_until(line(run), has_file(folder / run / file, bytes), SIGKILL), -SIGKILL);
      const ProgramResult resumed = run_bet({"resume", (folder / run).string(), "--quiet"});
      ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
      const Json report = Json::parse(read_file(folder / run / "report.json"));
      for (const char* key : {"used", "trainings", "validation", "test"}) {
        EXPECT_EQ(report[key], whole[key]) << run << " " << key;
      }
    }
  }
}

TEST(FitInterruption, AFullDiskLosesNothing) {
  const TempFolder folder;
  const auto line = [&](const std::string& name) { return search_line(folder, name, "8", "50%"); };
  ASSERT_EQ(run_bet(line("whole")).exit_code, 0);
  EXPECT_EQ(wait_for(start_bet(line("cut"), 200'000)), 1) << "run.db grows beyond that";
  ASSERT_TRUE(std::filesystem::exists(folder / "cut/run.db"));
  const ProgramResult resumed = run_bet({"resume", (folder / "cut").string(), "--quiet"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const Json whole = Json::parse(read_file(folder / "whole/report.json"));
  const Json cut = Json::parse(read_file(folder / "cut/report.json"));
  EXPECT_EQ(cut["test"], whole["test"]);
  EXPECT_EQ(cut["chosen"]["iteration"], whole["chosen"]["iteration"]);
}

TEST(FitInterruption, CtrlCInTheSearchGoesOnToRetraining) {
  const TempFolder folder;
  const std::vector<std::string> line = long_search_line(folder, "run");
  EXPECT_EQ(run_until(line, has_file(folder / "run/run.db-wal", kSomeTrainings), SIGINT), 0);
  const Json report = Json::parse(read_file(folder / "run/report.json"));
  EXPECT_EQ(report["interrupted"], true);
  EXPECT_GT(report["trials"].size(), 0U);
  EXPECT_GT(report["steps"]["final"], 0);
  EXPECT_GT(report["test"]["recall@20"], 0.15);
}

// Ctrl-C in the search, then a kill in the retraining that follows: the search is over, and the
// retraining of the plans that were best then is what is continued.
TEST(FitInterruption, ASearchThatWasCutShortIsNotTakenUpAgain) {
  const TempFolder folder;
  const std::vector<std::string> line = long_search_line(folder, "run");
  const pid_t child = start_bet(line);
  wait_until(has_file(folder / "run/run.db-wal", kSomeTrainings));
  kill(child, SIGINT);
  wait_until(has_file(folder / "run/checkpoint/state.ckpt"));
  kill(child, SIGKILL);
  ASSERT_EQ(wait_for(child), -SIGKILL);
  const ProgramResult resumed = run_bet({"resume", (folder / "run").string(), "--quiet"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const Json report = Json::parse(read_file(folder / "run/report.json"));
  EXPECT_LT(report["trials"].size(), 1000U);
  EXPECT_EQ(report["interrupted"], true);
  EXPECT_GT(report["test"]["recall@20"], 0.15);
}

void expect_same_end(const TempFolder& folder, const std::string& run, const std::string& whole) {
  const Json report = Json::parse(read_file(folder / run / "report.json"));
  const Json expected = Json::parse(read_file(folder / whole / "report.json"));
  for (const char* key : {"test", "validation", "steps", "interrupted"}) {
    EXPECT_EQ(report[key], expected[key]) << run << " " << key;
  }
  EXPECT_EQ(read_file(folder / run / "checkpoint/final.ckpt"),
            read_file(folder / whole / "checkpoint/final.ckpt"));
}

TEST(FitInterruption, ASearchThatWasCutShortIsContinuedOnDemandToTheEndOfAWholeOne) {
  const TempFolder folder;
  const auto line = [&](const std::string& name) {
    std::vector<std::string> words = search_line(folder, name);
    words.insert(words.end(), {"--threads", "1"});
    return words;
  };
  ASSERT_EQ(run_bet(line("whole")).exit_code, 0);
  ASSERT_EQ(run_until(line("run"), has_file(folder / "run/run.db-wal", kSomeTrainings), SIGINT), 0);
  const Json cut = Json::parse(read_file(folder / "run/report.json"));
  EXPECT_EQ(cut["interrupted"], true);
  const std::uint64_t planned = cut["planned_trials"];
  ASSERT_LT(cut["trials"].size(), planned);
  const std::string run = (folder / "run").string();
  const ProgramResult shown = run_bet({"resume", run});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_NE(shown.out.find("cut short after " + std::to_string(cut["trials"].size()) + " of " +
                           std::to_string(planned) + " trainings; to continue it: bet resume " +
                           run + " --continue-search"),
            std::string::npos)
      << shown.out;
  const ProgramResult resumed = run_bet({"resume", "--quiet", run, "--continue-search"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.out.find("cut short"), std::string::npos) << resumed.out;
  expect_same_end(folder, "run", "whole");
  const ProgramResult again = run_bet({"resume", "--quiet", run, "--continue-search"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.err.find("its search is complete ("), std::string::npos) << again.err;
  expect_same_end(folder, "run", "whole");
}

// SIGTERM in each phase: it is left within seconds, says how to continue it, and comes to the same
// end.
TEST(FitInterruption, SigtermSavesAndLeavesAndTheRunComesToTheSameEnd) {
  const TempFolder folder;
  const auto line = [&](const std::string& name) {
    std::vector<std::string> words = search_line(folder, name);
    words.insert(words.end(), {"--threads", "1"});
    return words;
  };
  ASSERT_EQ(run_bet(line("whole")).exit_code, 0);
  const std::pair<const char*, std::uintmax_t> places[] = {
      {"identity.txt", 0}, {"run.db-wal", kSomeTrainings}, {"checkpoint/state.ckpt", 0}};
  int number = 0;
  for (const auto& [file, size] : places) {
    SCOPED_TRACE(file);
    const std::string run = "left-" + std::to_string(number++);
    const std::string err = (folder / (run + ".err")).string();
    const pid_t child = start_bet(line(run), RLIM_INFINITY, err);
    wait_until(has_file(folder / run / file, size));
    const auto begin = std::chrono::steady_clock::now();
    kill(child, SIGTERM);
    EXPECT_EQ(wait_for(child), 143);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    EXPECT_FALSE(std::filesystem::exists(folder / run / "report.json"));
    EXPECT_NE(read_file(err).find("bet resume " + (folder / run).string()), std::string::npos)
        << read_file(err);
    const ProgramResult resumed = run_bet({"resume", (folder / run).string(), "--quiet"});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    expect_same_end(folder, run, "whole");
  }
}

TEST(FitInterruption, ASecondCtrlCStopsAtOnceAndSaysHowToContinue) {
  const TempFolder folder;
  const std::string err = (folder / "err").string();
  const std::string run = (folder / "run").string();
  const std::vector<std::string> line = {
      "fit",    "demo",       "--quiet", "--method",        "es", "--budget",
      "20%",    "--schedule", "paper",   "--patience",      "99", "--max-steps",
      "100000", "--out",      run,       "--measure-steps", "20"};
  const pid_t child = start_bet(line, RLIM_INFINITY, err);
  wait_until(has_file(folder / "run/checkpoint/state.ckpt"));
  kill(child, SIGINT);
  wait_until([&] { return !read_file(err).empty(); });
  EXPECT_NE(read_file(err).find("finishing with the best so far; press Ctrl-C again"),
            std::string::npos)
      << read_file(err);
  kill(child, SIGINT);
  EXPECT_EQ(wait_for(child), 130);
  EXPECT_NE(read_file(err).find("bet resume " + run), std::string::npos) << read_file(err);
}

TEST(FitInterruption, ResumeRefusesAnotherBudget) {
  const TempFolder folder;
  const std::string run = (folder / "run").string();
  ASSERT_EQ(run_bet({"fit", "demo", "--quiet", "--method", "es", "--budget", "5%", "--max-steps",
                     "10", "--out", run})
                .exit_code,
            0);
  const ProgramResult refused = run_bet({"resume", run, "--budget", "20%"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("was started with --budget 5%, not with --budget 20%"),
            std::string::npos)
      << refused.err;
  EXPECT_EQ(run_bet({"resume", "--quiet", "--threads", "1", run, "--budget", "5 %"}).exit_code, 0);
}

TEST(FitInterruption, ARunOfOtherDataIsNotContinued) {
  const TempFolder folder;
  const std::string data = (folder / "d.csv").string();
  ASSERT_EQ(
      run_bet({"data", "synth", data, "--users", "300", "--items", "200", "--interactions", "6000"})
          .exit_code,
      0);
  const std::vector<std::string> line = {"fit",
                                         data,
                                         "--quiet",
                                         "--budget",
                                         "10%",
                                         "--effort",
                                         "quick",
                                         "--out",
                                         (folder / "run").string(),
                                         "--cache",
                                         (folder / "cache").string()};
  EXPECT_EQ(run_until(line, has_file(folder / "run/identity.txt"), SIGKILL), -SIGKILL);
  ASSERT_EQ(run_bet({"data", "synth", data, "--users", "300", "--items", "200", "--interactions",
                     "6000", "--seed", "9"})
                .exit_code,
            0);
  const ProgramResult resumed = run_bet({"resume", (folder / "run").string()});
  EXPECT_EQ(resumed.exit_code, 1);
  EXPECT_NE(resumed.err.find("other data"), std::string::npos) << resumed.err;
}

TEST(FitInterruption, CtrlCFinishesWithTheBestSoFar) {
  const TempFolder folder;
  const std::vector<std::string> line = {"fit",
                                         "demo",
                                         "--quiet",
                                         "--method",
                                         "es",
                                         "--budget",
                                         "20%",
                                         "--schedule",
                                         "paper",
                                         "--patience",
                                         "99",
                                         "--max-steps",
                                         "100000",
                                         "--measure-steps",
                                         "20",
                                         "--out",
                                         (folder / "run").string()};
  EXPECT_EQ(run_until(line, has_file(folder / "run/checkpoint/state.ckpt"), SIGINT), 0);
  const Json report = Json::parse(read_file(folder / "run/report.json"));
  EXPECT_EQ(report["interrupted"], true);
  EXPECT_EQ(report["steps"]["final"], report["steps"]["best"]);
  EXPECT_GT(report["steps"]["final"], 0);
  EXPECT_GT(report["test"]["recall@20"], 0.05);
}

// One writer at a time: the second process is told who the first is, and changes nothing.
TEST(FitInterruption, TwoProcessesDoNotShareAFolder) {
  const TempFolder folder;
  const std::string run = (folder / "run").string();
  const auto line = [&](const char* seed) {
    return std::vector<std::string>{"fit", "demo",        "--quiet", "--method", "es", "--budget",
                                    "20%", "--max-steps", "200",     "--seed",   seed, "--out",
                                    run};
  };
  const pid_t first = start_bet(line("1"));
  wait_until(has_file(folder / "run/config.toml"));
  std::vector<std::string> second = line("2");
  second.emplace_back("--overwrite");
  for (const std::vector<std::string>& words : {second, std::vector<std::string>{"resume", run}}) {
    const ProgramResult refused = run_bet(words);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_NE(refused.err.find("is in use by process " + std::to_string(first)), std::string::npos)
        << refused.err;
  }
  EXPECT_EQ(wait_for(first), 0);
  const Json report = Json::parse(read_file(folder / "run/report.json"));
  EXPECT_EQ(report["seed"], 1);
  EXPECT_NE(read_file(folder / "run/config.toml").find("seed = 1\n"), std::string::npos);
}

TEST(FitInterruption, ADamagedReportIsNamed) {
  const TempFolder folder;
  const std::string run = (folder / "run").string();
  ASSERT_EQ(run_bet({"fit", "demo", "--quiet", "--method", "es", "--budget", "5%", "--max-steps",
                     "10", "--out", run})
                .exit_code,
            0);
  folder.write("run/report.json", "{}");
  for (const char* command : {"resume", "export"}) {
    const ProgramResult result = run_bet({command, run});
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_NE(result.err.find("report.json: is not the report of a run"), std::string::npos)
        << result.err;
  }
}

TEST(FitInterruption, ResumeSaysWhatIsNoRun) {
  const TempFolder folder;
  const ProgramResult result = run_bet({"resume", folder.path().string()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("is not a run folder"), std::string::npos) << result.err;
  EXPECT_EQ(run_bet({"resume"}).exit_code, 2);
}

}  // namespace
}  // namespace bet
