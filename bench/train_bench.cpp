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

void lightgcn_step(benchmark::State& state, RowPrecision precision) {
  ModelOptions options;
  options.precision = precision;
  ModelInTraining model(graph(), equal_sizes(static_cast<std::uint32_t>(state.range(0))), options,
                        named_schedule("paper"));
  for (int i = 0; i < 3; ++i) model.step();
  for (auto _ : state) benchmark::DoNotOptimize(model.step());
}

void lightgcn_step_fp32(benchmark::State& state) { lightgcn_step(state, RowPrecision::kFloat32); }
void lightgcn_step_bf16(benchmark::State& state) { lightgcn_step(state, RowPrecision::kBfloat16); }

void propagate_once(benchmark::State& state) {
  const MaskedTable table = make_table(equal_sizes(static_cast<std::uint32_t>(state.range(0))), 1);
  const at::Tensor values = table.values.detach();
  for (auto _ : state) benchmark::DoNotOptimize(propagate(values, graph()));
}

void draw_batch(benchmark::State& state) {
  const TripleSampler sampler(graph(), 1);
  TripleBatch batch;
  batch.resize(static_cast<std::size_t>(state.range(0)));
  std::uint64_t step = 0;
  for (auto _ : state) sampler.draw(step++, BatchKind::kUsers, batch);
}

void group_batch(benchmark::State& state) {
  const TripleSampler sampler(graph(), 1);
  TripleBatch batch;
  batch.resize(static_cast<std::size_t>(state.range(0)));
  sampler.draw(1, BatchKind::kUsers, batch);
  BatchEntries entries;
  for (auto _ : state) entries.build(batch, static_cast<std::uint32_t>(graph().num_nodes()));
}

// After some training, so that vectors differ in length as they do in use.
void full_ranking_top20(benchmark::State& state) {
  const auto width = static_cast<std::uint32_t>(state.range(0));
  ModelInTraining model(graph(), equal_sizes(width), {}, named_schedule("paper"));
  for (int i = 0; i < 100; ++i) model.step();
  const at::Tensor vectors = model.vectors();
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluate(vectors, width, split(), HeldOut::kTest, graph()));
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
BENCHMARK(draw_batch)->Arg(10'000)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(group_batch)->Arg(10'000)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(full_ranking_top20)->Arg(128)->Arg(12)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace bet::bench
