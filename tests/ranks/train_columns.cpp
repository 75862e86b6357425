// One rank of a training whose table is divided by columns, as a process of its own:
//
//   bet_train_columns RANK SIZE STORE BACKBONE POOL USERS ITEMS INTERACTIONS DIM BATCH STEPS
//
// Trains all rows at DIM columns on synthetic data and prints a line of JSON: what it took and
// sent. STORE is a file that the ranks of one run share; with SIZE 1 it is not used.

#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <vector>

#include "base/resident_memory.h"
#include "base/stopwatch.h"
#include "data/synthetic.h"
#include "model/tensor_memory.h"
#include "ranks/gloo_ranks.h"
#include "train/evaluator.h"
#include "train/model_state.h"

namespace bet {
namespace {

// Bytes that the system has sent over this process's TCP connections; 0 where it does not count.
std::uint64_t tcp_bytes_sent() {
  std::uint64_t total = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  while (const dirent* entry = readdir(folder.get())) {
    struct tcp_info info = {};
    socklen_t size = sizeof(info);
    const int file = std::atoi(entry->d_name);
    if (getsockopt(file, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) continue;
    if (size >= offsetof(struct tcp_info, tcpi_bytes_sent) + sizeof(info.tcpi_bytes_sent)) {
      total += info.tcpi_bytes_sent;
    }
  }
  return total;
}

int run(char** words) {
  const auto number = [&](int index) {
    return static_cast<std::uint32_t>(std::stoul(words[index]));
  };
  const std::uint32_t rank = number(1);
  const std::uint32_t size = number(2);
  use_huge_page_tensors();
  std::unique_ptr<RankGroup> ranks;
  if (size > 1) {
    ranks = join_gloo_ranks(
        c10::make_intrusive<c10d::FileStore>(words[3], static_cast<int>(size)),
        {.rank = rank, .size = size, .address = "127.0.0.1", .timeout = std::chrono::minutes(2)});
  }
  const Split split = make_split(synthetic_dataset({number(6), number(7), number(8), 50, 1}),
                                 SplitKind::kRandom, 1);
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const SizePlan plan = full_plan({split.num_users(), split.num_items(), number(9)});
  ModelOptions options;
  options.backbone = words[4];
  options.ranks = ranks.get();
  Schedule schedule;
  schedule.pool = number(5);
  schedule.batch_size = number(10);
  const std::uint32_t steps = number(11);

  nlohmann::json line = {{"rank", rank}, {"rss_before", resident_bytes()}};
  line["memory"] = training_memory(graph, std::span(&plan, 1), options, schedule).about;
  ModelInTraining model(graph, std::span(&plan, 1), options, schedule);
  model.step();  // the first one makes connections and memory
  const auto sent = [&] { return ranks ? ranks->bytes_sent() : 0; };
  const std::uint64_t sent_before = sent();
  const std::uint64_t tcp_before = tcp_bytes_sent();
  const Stopwatch watch;
  for (std::uint32_t step = 0; step < steps; ++step) model.step();
  line["step_seconds"] = watch.seconds() / steps;
  line["step_bytes"] = static_cast<double>(sent() - sent_before) / steps;
  line["step_tcp_bytes"] = static_cast<double>(tcp_bytes_sent() - tcp_before) / steps;
  line["peak_rss"] = peak_resident_bytes();
  line["loss"] = model.take_mean_losses().at(0);

  const std::uint64_t sent_steps = sent();
  const Stopwatch measuring;
  const Ranking ranking = model.ranking();
  line["score"] =
      evaluate(ranking.vectors, ranking.models[0], split, HeldOut::kValidation, graph).score();
  line["measure_seconds"] = measuring.seconds();
  line["measure_bytes"] = sent() - sent_steps;
  line["peak_rss_measured"] = peak_resident_bytes();
  if (ranks) {
    std::vector<float> values(std::size_t{1} << 24);
    ranks->start_sum(values)->wait();
    const std::uint64_t sent_measuring = sent();
    const Stopwatch summing;
    for (int i = 0; i < 4; ++i) ranks->start_sum(values)->wait();
    line["sum_bytes_per_second"] = static_cast<double>(sent() - sent_measuring) / summing.seconds();
  }
  std::cout << line.dump() << "\n";
  return 0;
}

}  // namespace
}  // namespace bet

int main(int argc, char** argv) {
  try {
    if (argc == 12) return bet::run(argv);
    std::cerr << "usage: bet_train_columns RANK SIZE STORE BACKBONE POOL USERS ITEMS INTERACTIONS "
                 "DIM BATCH STEPS\n";
  } catch (const std::exception& error) {
    std::cerr << "bet_train_columns: " << error.what() << "\n";
  }
  return 1;
}
