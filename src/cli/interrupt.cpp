#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace bet {
namespace {

volatile std::sig_atomic_t noted = 0;
bool acted_on = false;

extern "C" void note_interrupt(int) {
  constexpr int kInterruptedExit = 130;
  if (noted != 0) ::_exit(kInterruptedExit);
  noted = 1;
  constexpr char kText[] = "\nfinishing with the best so far; once more to stop at once\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText, sizeof(kText) - 1);
}

}  // namespace

void watch_interrupts() {
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
}

bool take_interrupt() {
  if (noted == 0 || acted_on) return false;
  acted_on = true;
  return true;
}

}  // namespace bet
