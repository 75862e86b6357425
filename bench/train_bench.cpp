#include <ATen/ops/zeros.h>
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>

#include "bench_data.h"
#include "data/load.h"
#include "model/executor.h"
#include "model/quantised_rows.h"
#include "train/evaluator.h"
#include "train/model_state.h"

namespace bet::bench {
namespace {

const Split& split() {
  static const Split parts = make_split(load_dataset(data_path()), SplitKind::kRandom, 1);
  return parts;
}

// 75 % of the interactions, on the device named by BET_BENCH_DEVICE (cpu or cuda).
const Graph& graph() {
  static const Graph joined = [] {
    const char* device = std::getenv("BET_BENCH_DEVICE");
    return make_graph(split(), TrainingPart::kTrainAndValidation)
        .to(find_device(device != nullptr ? device : "cpu"));
  }();
  return joined;
}

// Some steps at a time, so that a GPU is not waited for after each.
void time_steps(benchmark::State& state, ModelInTraining& model) {
  const int steps = graph().device().is_cpu() ? 1 : 50;
  for (int i = 0; i < 3; ++i) model.step();
  for (auto _ : state) {
    model.executor().wait();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) model.step();
    model.executor().wait();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(time.count() / steps);
  }
}

// Never ends.
Schedule endless(const char* name, const char* backbone = "lightgcn") {
  Schedule schedule = named_schedule(name, backbone);
  schedule.max_steps = 1'000'000;
  return schedule;
}

SizePlan equal_sizes(std::uint32_t size, std::uint32_t tables = 1) {
  const TableShape shape{graph().num_users, graph().num_items, 128, 1, tables};
  return equal_plan(shape, shape.total_size(size) * tables);
}

void lightgcn_step(benchmark::State& state, const char* schedule, RowPrecision precision) {
  ModelOptions options;
  options.precision = precision;
  const SizePlan plan = equal_sizes(static_cast<std::uint32_t>(state.range(0)));
  ModelInTraining model(graph(), std::span(&plan, 1), options, endless(schedule));
  time_steps(state, model);
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

// The table of lightgcn_step_fp32, with rows in the precision of the number.
SizePlan quantised_plan(std::int64_t precision) {
  const auto rows = static_cast<Precision>(precision);
  return equal_sizes(128).with_precision({rows, rows});
}

// What quantised rows add to a step: compare with lightgcn_step_quantised and lightgcn_step_fp32.
void quantise_rows(benchmark::State& state) {
  const ModelParameters table = make_table(quantised_plan(state.range(0)), 1).to(graph().device());
  for (auto _ : state) {
    benchmark::DoNotOptimize(quantised_rows(table));
    executor_for(graph().device()).wait();
  }
}

void lightgcn_step_quantised(benchmark::State& state) {
  const SizePlan plan = quantised_plan(state.range(0));
  ModelInTraining model(graph(), std::span(&plan, 1), {}, endless("paper"));
  time_steps(state, model);
}

void dense_step(benchmark::State& state, const char* backbone, const char* schedule) {
  ModelOptions options;
  options.backbone = backbone;
  const SizePlan plan =
      equal_sizes(static_cast<std::uint32_t>(state.range(0)), find_backbone(backbone).tables);
  ModelInTraining model(graph(), std::span(&plan, 1), options, endless(schedule, backbone));
  time_steps(state, model);
}

void ngcf_step(benchmark::State& state) { dense_step(state, "ngcf", "paper"); }
void ngcf_step_fast(benchmark::State& state) { dense_step(state, "ngcf", "fast"); }
void ncf_step(benchmark::State& state) { dense_step(state, "ncf", "paper"); }
void ncf_step_fast(benchmark::State& state) { dense_step(state, "ncf", "fast"); }

void ncf_full_ranking(benchmark::State& state) {
  ModelOptions options;
  options.backbone = "ncf";
  const SizePlan plan = equal_sizes(static_cast<std::uint32_t>(state.range(0)), 2);
  ModelInTraining model(graph(), std::span(&plan, 1), options, endless("paper", "ncf"));
  for (int i = 0; i < 20; ++i) model.step();
  for (auto _ : state) {
    const Ranking ranking = model.ranking();
    benchmark::DoNotOptimize(
        evaluate(ranking.vectors, ranking.models[0], split(), HeldOut::kTest, graph()));
  }
}

// So many models of width 12 side by side.
void lightgcn_step_joined(benchmark::State& state) {
  const std::vector<SizePlan> plans(static_cast<std::size_t>(state.range(0)), equal_sizes(12));
  ModelInTraining model(graph(), plans, {}, endless("fast"));
  time_steps(state, model);
}

void propagate_once(benchmark::State& state) {
  const ModelParameters table =
      make_table(equal_sizes(static_cast<std::uint32_t>(state.range(0))), 1).to(graph().device());
  for (auto _ : state) {
    benchmark::DoNotOptimize(propagate(table.values, graph()));
    executor_for(graph().device()).wait();
  }
}

void draw_batch(benchmark::State& state) {
  const BatchSampler sampler(graph(), 1);
  const Schedule schedule = named_schedule(state.range(0) == 0 ? "paper" : "fast");
  Batch batch(schedule.entries_for(sampler.num_users()), schedule.pool, graph().num_nodes(),
              graph().device());
  const at::Tensor record = at::zeros({sizeof(StepRecord)}, batch.rows.options().dtype(at::kByte));
  for (auto _ : state) {
    sampler.draw(static_cast<const StepRecord*>(record.data_ptr()), schedule.batch_kind, batch);
    executor_for(graph().device()).wait();
  }
}

// After some training, so that vectors differ in length as they do in use.
void full_ranking_top20(benchmark::State& state) {
  const auto width = static_cast<std::uint32_t>(state.range(0));
  const SizePlan plan = equal_sizes(width);
  ModelInTraining model(graph(), std::span(&plan, 1), {}, named_schedule("paper"));
  for (int i = 0; i < 100; ++i) model.step();
  const at::Tensor vectors = model.ranking().vectors;
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluate(vectors, {0, width}, split(), HeldOut::kTest, graph()));
  }
}

BENCHMARK(lightgcn_step_fp32)
    ->Arg(128)
    ->Arg(48)
    ->Arg(6)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();
BENCHMARK(lightgcn_step_bf16)
    ->Arg(128)
    ->Arg(48)
    ->Arg(6)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();
BENCHMARK(lightgcn_step_quantised)
    ->Arg(static_cast<int>(Precision::kInt8))
    ->Arg(static_cast<int>(Precision::kInt2))
    ->Arg(static_cast<int>(Precision::kInt1))
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();
BENCHMARK(quantise_rows)
    ->Arg(static_cast<int>(Precision::kInt8))
    ->Arg(static_cast<int>(Precision::kInt2))
    ->Arg(static_cast<int>(Precision::kTernary))
    ->Arg(static_cast<int>(Precision::kInt1))
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(lightgcn_step_fast)->Arg(128)->Arg(12)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(lightgcn_step_joined)
    ->Arg(1)
    ->Arg(4)
    ->Arg(8)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();
BENCHMARK(ngcf_step)->Arg(128)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(ngcf_step_fast)->Arg(12)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(ncf_step)->Arg(128)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(ncf_step_fast)->Arg(12)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(ncf_full_ranking)->Arg(128)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(propagate_once)->Arg(128)->Arg(48)->Arg(6)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(draw_batch)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(full_ranking_top20)->Arg(128)->Arg(12)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace bet::bench
