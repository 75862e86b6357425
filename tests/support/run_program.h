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
// stdin. Where the tests have its `main` (support/bet_main.cpp), in a copy of this process, which
// has LibTorch loaded: half a second less. In such a copy threads that were started before would be
// missing; then, as in all other tests, by the program's file.
ProgramResult run_bet(const std::vector<std::string>& arguments, const std::string& input = "");
// The same by the program's file in any case.
ProgramResult run_bet_file(const std::vector<std::string>& arguments);
// The same with `bet-serve`.
ProgramResult run_bet_serve(const std::vector<std::string>& arguments);

// Tells run_bet of the program's `main`, before any test runs.
using ProgramMain = int (*)(int, char**);
bool set_bet_main(ProgramMain bet_main);

}  // namespace bet::test
