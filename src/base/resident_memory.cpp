#include "base/resident_memory.h"

#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bet {
namespace {

std::uint64_t status_bytes(std::string_view key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return 1024 * std::stoull(line.substr(key.size()));
  }
  fail_as(ErrorKind::kInternal, "/proc/self/status: has no line ", key);
}

}  // namespace

std::uint64_t peak_resident_bytes() { return status_bytes("VmHWM:"); }

std::uint64_t resident_bytes() { return status_bytes("VmRSS:"); }

}  // namespace bet
