#pragma once

#include <string>
#include <vector>

namespace bet::test {

struct ProgramResult {
  int exit_code = -1;  // -signal if killed
  std::string out;
  std::string err;
};

// The arguments, with `--loss bpr` for a `fit` that names no loss: choosing one takes several
// trainings more, and few tests are about it.
std::vector<std::string> by_bpr(std::vector<std::string> arguments);

// Runs the program `bet` of this build with by_bpr(arguments) and waits for it; `input` is its
// stdin.
ProgramResult run_bet(const std::vector<std::string>& arguments, const std::string& input = "");
// The same with `bet-serve`.
ProgramResult run_bet_serve(const std::vector<std::string>& arguments);

}  // namespace bet::test
