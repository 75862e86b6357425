#include "base/resident_memory.h"

#include <fstream>
#include <string>

#include "base/error.h"

namespace bet {

std::uint64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return 1024 * std::stoull(line.substr(6));
  }
  fail("/proc/self/status: does not say how much memory is held");
}

}  // namespace bet
