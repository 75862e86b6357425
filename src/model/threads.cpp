#include "model/threads.h"

#include <ATen/Parallel.h>

#include <thread>

namespace bet {

void set_num_threads(int count) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  at::set_num_threads(count > 0 ? count : (cores > 0 ? cores : 1));
}

}  // namespace bet
