#include "base/error.h"
#include "model/executor.h"

namespace bet {

Executor& cuda_executor(const at::Device& /*device*/) {
  fail(
      "--device cuda: this build of bet runs on the CPU only; build it against a LibTorch with "
      "CUDA (README, \"On a GPU\")");
}

}  // namespace bet
