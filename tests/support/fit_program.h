#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/run_program.h"
#include "support/temp_folder.h"

namespace bet::test {

// Pretrained models are kept among the tests of a program, and nothing of the user's is read or
// written.
inline const std::string& test_cache() {
  static const TempFolder folder;
  static const std::string path = (folder / "cache").string();
  return path;
}

// The report of `bet fit`; null, and a failed test, if it ended with an error.
inline nlohmann::json fit(const std::vector<std::string>& arguments) {
  std::vector<std::string> line = {"fit", "--quiet", "--json"};
  if (std::find(arguments.begin(), arguments.end(), "--cache") == arguments.end()) {
    line.insert(line.end(), {"--cache", test_cache()});
  }
  line.insert(line.end(), arguments.begin(), arguments.end());
  const ProgramResult result = run_bet(line);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.exit_code == 0 ? nlohmann::json::parse(result.out) : nlohmann::json();
}

// What `bet evaluate` measures of a run or a file of the demo data on test.
inline nlohmann::json measured(const std::string& subject) {
  const ProgramResult result = run_bet({"evaluate", subject, "demo", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.exit_code == 0 ? nlohmann::json::parse(result.out)["test"] : nlohmann::json();
}

}  // namespace bet::test
