#pragma once

#include <string>
#include <vector>

namespace bet::test {

struct ProgramResult {
  int exit_code = -1;  // -signal if killed
  std::string out;
  std::string err;
};

// Runs build's own program `bet` with the arguments and waits; `input` goes to its stdin.
ProgramResult run_bet(const std::vector<std::string>& arguments, const std::string& input = "");
// The same with `bet-serve`.
ProgramResult run_bet_serve(const std::vector<std::string>& arguments);

}  // namespace bet::test
