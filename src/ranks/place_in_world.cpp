#include "ranks/place_in_world.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/integer_text.h"

namespace bet {
namespace {

using Variable = std::function<const char*(const char*)>;

// What a way to start several processes calls things. `local_size` may be null.
struct Launcher {
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
  const char* nodes;  // null: not told
};

// A batch script of Slurm's has SLURM_PROCID and SLURM_NTASKS too, though it is alone: only the
// number of the step's tasks says that srun started this process.
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", nullptr},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", nullptr},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr, "SLURM_STEP_NUM_NODES"}};

std::optional<std::int64_t> number_in(const Variable& variable, const char* name,
                                      std::int64_t most) {
  const char* const text = variable(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  const std::optional<std::int64_t> number = integer_of(text);
  BET_CHECK(number && *number >= 0 && *number <= most, name, "=", in_quotes(text),
            " in the environment: expected a number from 0 to ", most);
  return number;
}

constexpr std::int64_t kMostRanks = 65'536;

}  // namespace

std::optional<PlaceInWorld> place_in_world(const Variable& variable) {
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = number_in(variable, launcher.rank, kMostRanks);
    const auto size = number_in(variable, launcher.size, kMostRanks);
    if (!rank || size.value_or(1) < 2) continue;
    BET_CHECK(*rank < *size, launcher.rank, "=", *rank, " in the environment, but ", launcher.size,
              "=", *size);
    PlaceInWorld place;
    place.rank = static_cast<std::uint32_t>(*rank);
    place.size = static_cast<std::uint32_t>(*size);
    place.local_rank = static_cast<std::uint32_t>(
        number_in(variable, launcher.local_rank, kMostRanks).value_or(0));
    const bool one_node =
        launcher.nodes != nullptr && number_in(variable, launcher.nodes, kMostRanks) == 1;
    std::int64_t local_size = one_node ? *size : 1;
    if (launcher.local_size != nullptr) {
      local_size = number_in(variable, launcher.local_size, kMostRanks).value_or(1);
    }
    place.local_size = static_cast<std::uint32_t>(std::max<std::int64_t>(1, local_size));
    const char* const host = variable("MASTER_ADDR");
    BET_CHECK(host != nullptr || place.local_size == place.size, launcher.rank, "=", *rank, " and ",
              launcher.size, "=", *size,
              " in the environment: set MASTER_ADDR to the host of rank 0 as well (or unset ",
              launcher.rank, " to run alone)");
    place.host = host != nullptr ? host : "127.0.0.1";
    place.port =
        static_cast<std::uint16_t>(number_in(variable, "MASTER_PORT", 65'535).value_or(place.port));
    const char* const agent = variable("TORCHELASTIC_USE_AGENT_STORE");
    place.store_is_there = agent != nullptr && std::string(agent) == "True";
    const char* const attempt = variable("TORCHELASTIC_RESTART_COUNT");
    place.store_prefix = str_cat("bet/", attempt != nullptr ? attempt : "0", "/");
    return place;
  }
  return std::nullopt;
}

std::string gpu_of(const PlaceInWorld& place, const char* visible, std::size_t num_gpus) {
  if (visible == nullptr) {
    return num_gpus > 1 ? std::to_string(place.local_rank % num_gpus) : "";
  }
  std::vector<std::string> names;
  std::istringstream list(visible);
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  return names.size() > 1 ? names[place.local_rank % names.size()] : "";
}

std::optional<PlaceInWorld> place_in_world() {
  return place_in_world([](const char* name) { return std::getenv(name); });
}

}  // namespace bet
