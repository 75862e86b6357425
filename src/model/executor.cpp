#include "model/executor.h"

#include "base/error.h"

namespace bet {

Executor& cpu_executor();
// In cuda_executor.cpp; in no_cuda.cpp, which throws, where the build has no CUDA.
Executor& cuda_executor(const at::Device& device);

Executor& executor_for(const at::Device& device) {
  if (device.is_cpu()) return cpu_executor();
  BET_CHECK(device.is_cuda(), "device ", device.str(), " is not supported; there are cpu and cuda");
  return cuda_executor(device);
}

at::Device find_device(std::string_view name) {
  BET_CHECK(name == "cpu" || name == "cuda", "unknown device ", in_quotes(name),
            "; there are cpu and cuda");
  const at::Device device = name == "cpu" ? at::Device(at::kCPU) : at::Device(at::kCUDA, 0);
  executor_for(device);
  return device;
}

}  // namespace bet
