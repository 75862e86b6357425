#include "cli/ranks.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace bet {
namespace {

std::size_t num_gpus() {
  std::error_code none;
  const std::filesystem::directory_iterator gpus("/proc/driver/nvidia/gpus", none);
  return static_cast<std::size_t>(std::distance(begin(gpus), end(gpus)));
}

}  // namespace

std::shared_ptr<World> join_ranks(std::uint32_t timeout_seconds) {
  const std::optional<PlaceInWorld> place = place_in_world();
  if (!place) return nullptr;
  if (place->rank > 0) std::signal(SIGINT, SIG_IGN);
  // Before CUDA is asked for anything: it then sees this one alone.
  const std::string gpu = gpu_of(*place, std::getenv("CUDA_VISIBLE_DEVICES"), num_gpus());
  if (!gpu.empty()) ::setenv("CUDA_VISIBLE_DEVICES", gpu.c_str(), 1);
  return std::make_shared<World>(*place, std::chrono::seconds(timeout_seconds));
}

}  // namespace bet
