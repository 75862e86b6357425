#include "cli/many_runs.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <sstream>

#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/progress_line.h"

namespace bet {
namespace {

std::string minutes_text(double seconds) {
  const auto whole = static_cast<unsigned long long>(seconds);
  return std::to_string(whole / 60) + "m " + std::to_string(whole % 60) + "s";
}

void print_run(const CompareProgress& progress) {
  const ComparedRun& run = *progress.run;
  std::array<char, 64> quality{};
  if (run.report) {
    std::snprintf(quality.data(), quality.size(), "test R@20 %.4f", run.report->test.recall[2]);
  }
  const std::string left =
      progress.seconds_left >= 0 ? "  ETA of all " + minutes_text(progress.seconds_left) : "";
  std::fprintf(stderr, "%zu/%zu %s  %s%s\n", progress.done, progress.total,
               run.folder.filename().c_str(), run.report ? quality.data() : run.error.c_str(),
               left.c_str());
}

}  // namespace

void show_many_runs(bool quiet, const std::function<void(const CompareCallbacks&)>& work) {
  watch_interrupts();
  say_at_interrupt("\nCtrl-C: saving; the same command continues\n");
  CompareCallbacks callbacks;
  // What was cut short could not be compared: the run is left to be continued.
  callbacks.fit.leave = [interrupted = false]() mutable {
    interrupted = interrupted || take_interrupt();
    return interrupted;
  };
  ProgressLine line;
  if (!quiet) {
    callbacks.run_begins = [&](const CompareProgress& progress) {
      line.set_heading(std::to_string(progress.done + 1) + "/" + std::to_string(progress.total) +
                       " " + progress.run->folder.filename().string() + "  ");
    };
    callbacks.fit.progress.progress = [&](const RunProgress& progress) { line.show(progress); };
    callbacks.run_ended = [&](const CompareProgress& progress) {
      line.clear();
      print_run(progress);
    };
  }
  try {
    work(callbacks);
  } catch (const Interrupted& error) {
    std::fprintf(stderr, "bet: %s\n", error.what());
    throw CLI::RuntimeError(interrupted_exit_code());
  }
}

std::vector<std::string> words_of_list(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

}  // namespace bet
