#include <benchmark/benchmark.h>

#include "bench_data.h"
#include "data/load.h"
#include "data/split.h"

namespace bet::bench {
namespace {

// From the file to sorted, merged rows with mapped ids.
void load(benchmark::State& state, const std::filesystem::path& path) {
  std::uint64_t interactions = 0;
  for (auto _ : state) interactions += load_dataset(path).num_interactions();
  state.SetItemsProcessed(static_cast<std::int64_t>(interactions));
}

void load_lightgcn_text(benchmark::State& state) { load(state, data_path()); }
void load_csv(benchmark::State& state) { load(state, csv_path()); }

void split_random(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    Dataset dataset = load_dataset(data_path());
    state.ResumeTiming();
    benchmark::DoNotOptimize(make_split(std::move(dataset), SplitKind::kRandom, 1));
  }
}

BENCHMARK(load_lightgcn_text)->Unit(benchmark::kMillisecond);
BENCHMARK(load_csv)->Unit(benchmark::kMillisecond);
BENCHMARK(split_random)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bet::bench
