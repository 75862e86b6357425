// Trains a model inside a memory budget and saves it, by the library alone:
//   fit DATA BUDGET FOLDER
#include "run/fit.h"

#include <cstdio>

#include "bet/model.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    bet::FitJob job;
    job.options.data.path = argv[1];
    job.options.budget = bet::parse_budget(argv[2]);
    job.options.method = "es";  // equal sizes; by default the search, which takes longer
    job.options.effort = bet::Effort::kQuick;
    job.folder = argv[3];
    job.mode = bet::FitMode::kOverwrite;
    bet::FitCallbacks callbacks;
    callbacks.message = [](const std::string& line) { std::puts(line.c_str()); };
    const bet::FitResult result = bet::fit(job, callbacks);
    std::printf("recall@20 on test: %.4f\n", result.report.test.recall[2]);
    const bet::Model model = bet::Model::open((result.folder / "model.bet").string());
    for (const auto& [item, score] : model.recommend("17", 5)) {
      std::printf("%.*s\t%.4f\n", static_cast<int>(item.size()), item.data(), score);
    }
  } catch (const bet::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.kind() == bet::ErrorKind::kBudget ? 3 : 1;
  }
}
