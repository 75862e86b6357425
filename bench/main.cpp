#include <benchmark/benchmark.h>

#include <cstring>

#include "bench_data.h"
#include "model/tensor_memory.h"
#include "model/threads.h"

// Google Benchmark's own options, --data=PATH for the interactions to work on, --csv=PATH for
// load_csv.
int main(int argc, char** argv) {
  bet::use_huge_page_tensors();
  bet::set_num_threads(0);
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--data=", 7) == 0) {
      bet::bench::set_data_path(argv[i] + 7);
    } else if (std::strncmp(argv[i], "--csv=", 6) == 0) {
      bet::bench::set_csv_path(argv[i] + 6);
    } else {
      benchmark::ReportUnrecognizedArguments(2, argv + i - 1);
      return 2;
    }
  }
  benchmark::RunSpecifiedBenchmarks();
}
