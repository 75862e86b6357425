#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "data/load.h"
#include "model/tensor_memory.h"
#include "model/threads.h"
#include "train/model_state.h"

// bet_peer_export DATA WIDTH STEPS OUT: writes what a peer needs to train the same LightGCN from
// the same start on the same batches (75 % of DATA, equal sizes): edges.i32 (user, item), start.f32
// [nodes][width], batches.i32 [steps][3][batch] (rows of the joint table), and our losses.txt.

namespace bet {
namespace {

void write(const std::filesystem::path& path, const void* data, std::size_t bytes) {
  AtomicFile file(path);
  file.write({static_cast<const char*>(data), bytes});
  file.commit();
}

void run(const std::string& data, std::uint32_t width, int num_steps,
         const std::filesystem::path& out) {
  use_huge_page_tensors();
  set_num_threads(0);
  std::filesystem::create_directories(out);
  const Split split = make_split(load_dataset(data), SplitKind::kRandom, 1);
  const Graph graph = make_graph(split, TrainingPart::kTrainAndValidation);
  std::vector<std::uint32_t> edges;
  for (UserId user = 0; user < split.num_users(); ++user) {
    for (const ItemId item : split.train_and_validation(user)) {
      edges.push_back(user);
      edges.push_back(item);
    }
  }
  write(out / "edges.i32", edges.data(), edges.size() * sizeof(edges[0]));

  const TableShape shape{graph.num_users, graph.num_items};
  const SizePlan plan = equal_plan(shape, shape.num_rows() * width);
  ModelInTraining model(graph, std::span(&plan, 1), {}, named_schedule("paper"));
  const float* values = model.table().values.data_ptr<float>();
  std::vector<float> start;
  for (std::int64_t row = 0; row < model.table().num_rows(); ++row) {
    const float* begin = values + row * model.table().values.size(1);
    start.insert(start.end(), begin, begin + width);
  }
  write(out / "start.f32", start.data(), start.size() * sizeof(start[0]));

  const Schedule schedule = named_schedule("paper");
  const BatchSampler sampler(graph, ModelOptions{}.seed);
  Batch batch(schedule.batch_size, schedule.pool, graph.num_nodes(), at::kCPU);
  StepRecord record;
  std::vector<std::int32_t> batches;
  std::string losses;
  for (int step = 0; step < num_steps; ++step) {
    sampler.draw(&record, schedule.batch_kind, batch);
    ++record.steps;
    const auto* rows = batch.rows.data_ptr<std::int32_t>();
    batches.insert(batches.end(), rows, rows + batch.num_slots());
    model.step();
    losses += std::to_string(model.take_mean_losses()[0]) + "\n";
  }
  write(out / "batches.i32", batches.data(), batches.size() * sizeof(batches[0]));
  write(out / "losses.txt", losses.data(), losses.size());
}

}  // namespace
}  // namespace bet

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: bet_peer_export DATA WIDTH STEPS OUT\n", stderr);
    return 2;
  }
  try {
    bet::run(argv[1], static_cast<std::uint32_t>(std::stoul(argv[2])), std::stoi(argv[3]), argv[4]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bet_peer_export: %s\n", error.what());
    return 1;
  }
}
