#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/sanitized.h"
#include "support/temp_folder.h"

// Ranks as processes: what each of them takes and sends.

namespace bet {
namespace {

using Json = nlohmann::json;

constexpr double kProcessUsers = 40'000;
constexpr double kProcessItems = 10'000;
constexpr int kProcessDim = 128;

// The line of each rank of tests/ranks/train_columns.cpp.
std::vector<Json> train_columns(int size, const std::string& backbone, int pool, int batch) {
  const test::TempFolder folder;
  std::vector<std::unique_ptr<FILE, int (*)(FILE*)>> processes;
  for (int rank = 0; rank < size; ++rank) {
    char command[1024];
    std::snprintf(command, sizeof(command),
                  "OMP_NUM_THREADS=1 %s %d %d %s/store %s %d %.0f %.0f 400000 %d %d 3",
                  BET_TRAIN_COLUMNS_PROGRAM, rank, size, folder.path().c_str(), backbone.c_str(),
                  pool, kProcessUsers, kProcessItems, kProcessDim, batch);
    processes.emplace_back(popen(command, "r"), pclose);
  }
  std::vector<Json> lines;
  for (const auto& process : processes) {
    std::string text;
    char part[4096];
    while (std::fgets(part, sizeof(part), process.get()) != nullptr) text += part;
    lines.push_back(Json::parse(text));
  }
  return lines;
}

TEST(ColumnProcesses, TakeTheirPartOfTheMemoryAndSendScoresAlone) {
  constexpr int kBatch = 10'000;
  const Json alone = train_columns(1, "lightgcn", 1, kBatch)[0];
  const std::vector<Json> ranks = train_columns(4, "lightgcn", 1, kBatch);
  const auto taken = [](const Json& line) {
    return line.at("peak_rss").get<double>() - line.at("rss_before").get<double>();
  };
  const double table = 4.0 * (kProcessUsers + kProcessItems) * kProcessDim;
  EXPECT_GT(taken(alone), 6 * table) << "values, moments, layers, gradients";
  EXPECT_NEAR(taken(alone) / alone.at("memory").get<double>(), 1, 0.25) << "what is said before";
  for (const Json& rank : ranks) {
    // What does not depend on the columns: the batch and its groups.
    constexpr double kBeside = 25e6;
    EXPECT_LT(taken(rank), taken(alone) / 4 + kBeside) << rank;
    EXPECT_NEAR(rank.at("loss").get<double>(), alone.at("loss").get<double>(), 1e-5);
    EXPECT_NEAR(rank.at("score").get<double>(), alone.at("score").get<double>(), 1e-3);
    // Around the ring: 2 * 3/4 of a number for each entry, and of the regulariser's.
    EXPECT_EQ(rank.at("step_bytes").get<double>(), 1.5 * (4 * kBatch + 8));
    if (rank.at("step_tcp_bytes") == 0) continue;  // the system does not count
    // And heads of messages; a busy machine sends some of it again (63,563 bytes were seen).
    EXPECT_GE(rank.at("step_tcp_bytes").get<double>(), 6 * kBatch);
    EXPECT_LE(rank.at("step_tcp_bytes").get<double>(), 1.1 * 6 * kBatch);
  }
}

TEST(ColumnProcesses, WithPoolsSendAScoreForEachPair) {
  constexpr int kBatch = 20'000;
  for (const Json& rank : train_columns(2, "mf", 32, kBatch)) {
    EXPECT_EQ(rank.at("step_bytes").get<double>(), 4 * kBatch * 33 + 8);
    if (rank.at("step_tcp_bytes") == 0) continue;
    EXPECT_NEAR(rank.at("step_tcp_bytes").get<double>(), 4 * kBatch * 33, 0.02 * 4 * kBatch * 33);
  }
}

}  // namespace
}  // namespace bet
