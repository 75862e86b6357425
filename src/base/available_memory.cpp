#include "base/available_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace bet {
namespace {

// The number behind a word that begins a line; none where there is no such line, or no number.
std::optional<std::uint64_t> number_after(const char* path, const std::string& word) {
  std::ifstream file(path);
  for (std::string read; file >> read; file.ignore(std::numeric_limits<int>::max(), '\n')) {
    std::uint64_t number = 0;
    if (read == word && file >> number) return number;
  }
  return std::nullopt;
}

// The only number of a file; none where there is none ("max").
std::optional<std::uint64_t> number_in(const char* path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

std::uint64_t left_of(std::uint64_t limit, std::uint64_t used) {
  return limit > used ? limit - used : 0;
}

}  // namespace

std::uint64_t available_bytes() {
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t kUnit = 1024;
  if (const auto available = number_after("/proc/meminfo", "MemAvailable:")) {
    bytes = kUnit * *available;
  }
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (limit && used) {
    // Files that were read are counted as used, and given up where memory is short.
    const auto files = number_after("/sys/fs/cgroup/memory.stat", "inactive_file");
    bytes = std::min(bytes, left_of(*limit, left_of(*used, files.value_or(0))));
  }
  rlimit addresses{};
  const auto mapped = number_after("/proc/self/status", "VmSize:");
  if (mapped && ::getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY) {
    bytes = std::min(bytes, left_of(addresses.rlim_cur, kUnit * *mapped));
  }
  return bytes;
}

}  // namespace bet
