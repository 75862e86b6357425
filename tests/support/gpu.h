#pragma once

#include <gtest/gtest.h>

#include "base/error.h"
#include "model/executor.h"

namespace bet::test {

// Tests that need a GPU; they are skipped, with the reason, where the build or the machine has
// none.
class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    try {
      gpu_ = find_device("cuda");
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  const at::Device& gpu() const { return gpu_; }

 private:
  at::Device gpu_ = at::kCPU;
};

}  // namespace bet::test
