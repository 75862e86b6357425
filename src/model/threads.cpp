#include "model/threads.h"

#include <ATen/Parallel.h>
#include <torch/csrc/api/include/torch/version.h>

#include <thread>

namespace bet {

void set_num_threads(int count) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  at::set_num_threads(count > 0 ? count : (cores > 0 ? cores : 1));
}

int num_threads() { return at::get_num_threads(); }

const char* torch_version() { return TORCH_VERSION; }

}  // namespace bet
