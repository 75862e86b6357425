#include <benchmark/benchmark.h>

#include "bench_data.h"
#include "data/load.h"
#include "train/evaluator.h"
#include "train/model_state.h"

namespace bet::bench {
namespace {

const Split& split() {
  static const Split parts = [] {
    Dataset loaded = load_dataset(data_path());
    return make_split(loaded, SplitKind::kRandom, 1);
  }();
  return parts;
}

// 75 % of the interactions.
const Graph& graph() {
  static const Graph joined = make_graph(split(), TrainingPart::kTrainAndValidation);
  return joined;
}

SizePlan equal_sizes(std::uint32_t size) {
  const TableShape shape{graph().num_users, graph().num_items};
  return equal_plan(shape, shape.num_rows() * size);
}

void lightgcn_step(benchmark::State& state, const char* schedule, RowPrecision precision) {
  ModelOptions options;
  options.precision = precision;
  const SizePlan plan = equal_sizes(static_cast<std::uint32_t>(state.range(0)));
  ModelInTraining model(graph(), std::span(&plan, 1), options, named_schedule(schedule));
  for (int i = 0; i < 3; ++i) model.step();
  for (auto _ : state) model.step();
}

void lightgcn_step_fp32(benchmark::State& state) {
  lightgcn_step(state, "paper", RowPrecision::kFloat32);
}
void lightgcn_step_bf16(benchmark::State& state) {
  lightgcn_step(state, "paper", RowPrecision::kBfloat16);
}
void lightgcn_step_fast(benchmark::State& state) {
  lightgcn_step(state, "fast", RowPrecision::kFloat32);
}

// So many models of width 12 side by side.
void lightgcn_step_joined(benchmark::State& state) {
  const std::vector<SizePlan> plans(static_cast<std::size_t>(state.range(0)), equal_sizes(12));
  ModelInTraining model(graph(), plans, {}, named_schedule("fast"));
  for (int i = 0; i < 3; ++i) model.step();
  for (auto _ : state) model.step();
}

void propagate_once(benchmark::State& state) {
  const MaskedTable table = make_table(equal_sizes(static_cast<std::uint32_t>(state.range(0))), 1);
  for (auto _ : state) benchmark::DoNotOptimize(propagate(table.values, graph()));
}

void draw_batch(benchmark::State& state) {
  const BatchSampler sampler(graph(), 1);
  const Schedule schedule = named_schedule(state.range(0) == 0 ? "paper" : "fast");
  Batch batch(schedule.entries_for(sampler.num_users()), schedule.pool, graph().num_nodes(),
              at::kCPU);
  StepRecord record;
  for (auto _ : state) {
    sampler.draw(&record, schedule.batch_kind, batch);
    ++record.steps;
  }
}

// After some training, so that vectors differ in length as they do in use.
void full_ranking_top20(benchmark::State& state) {
  const auto width = static_cast<std::uint32_t>(state.range(0));
  const SizePlan plan = equal_sizes(width);
  ModelInTraining model(graph(), std::span(&plan, 1), {}, named_schedule("paper"));
  for (int i = 0; i < 100; ++i) model.step();
  const at::Tensor vectors = model.vectors();
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluate(vectors, {0, width}, split(), HeldOut::kTest, graph()));
  }
}

BENCHMARK(lightgcn_step_fp32)
    ->Arg(128)
    ->Arg(48)
    ->Arg(6)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(lightgcn_step_bf16)
    ->Arg(128)
    ->Arg(48)
    ->Arg(6)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(propagate_once)->Arg(128)->Arg(48)->Arg(6)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(lightgcn_step_fast)
    ->Arg(128)
    ->Arg(12)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(lightgcn_step_joined)
    ->Arg(1)
    ->Arg(4)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(draw_batch)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(full_ranking_top20)->Arg(128)->Arg(12)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace bet::bench
