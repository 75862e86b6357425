#include <benchmark/benchmark.h>

#include <vector>

#include "bench_data.h"
#include "plan/plan_sampler.h"

namespace bet::bench {
namespace {

// One plan of a search, at 5 % of the parameters, over the families as they come.
void draw_plan(benchmark::State& state) {
  const Dataset& data = dataset();
  const TableShape shape{data.num_users(), data.num_items()};
  std::vector<std::uint32_t> users;
  std::vector<std::uint32_t> items(data.num_items(), 0);
  for (UserId user = 0; user < data.num_users(); ++user) {
    users.push_back(static_cast<std::uint32_t>(data.interactions.row(user).size()));
    for (const ItemId item : data.interactions.row(user)) ++items[item];
  }
  const PlanSampler sampler(shape, resolve_budget(parse_budget("5%"), shape).params, users, items);
  std::uint64_t index = 0;
  for (auto _ : state) benchmark::DoNotOptimize(sampler.draw(1, index++));
}

BENCHMARK(draw_plan)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bet::bench
