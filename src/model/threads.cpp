#include "model/threads.h"

#include <ATen/Parallel.h>
#include <torch/csrc/api/include/torch/version.h>

#include <algorithm>
#include <thread>

namespace bet {

void set_num_threads(std::uint32_t count, std::uint32_t processes) {
  const std::uint32_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  const std::uint32_t all = std::max(cores / processes, 1U);
  at::set_num_threads(static_cast<int>(count > 0 ? std::min(count, cores) : all));
}

std::uint32_t num_threads() { return static_cast<std::uint32_t>(at::get_num_threads()); }

const char* torch_version() { return TORCH_VERSION; }

}  // namespace bet
