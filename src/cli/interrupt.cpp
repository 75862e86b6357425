#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <string>

namespace bet {
namespace {

constexpr int kSignalExit = 128;  // plus the signal's number, as shells have it

volatile std::sig_atomic_t interrupted = 0;
volatile std::sig_atomic_t terminated = 0;
bool acted_on = false;
std::atomic<const char*> interrupt_text{kFinishing};
std::string resume_text;                        // what the pointer below is of
std::atomic<const char*> resume_line{nullptr};  // null while there is nothing to resume

void write_text(const char* text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

// Safe in a signal handler.
void end_at_once(int signal_number) {
  const char* const line = resume_line.load();
  write_text("\nstopped\n");
  if (line != nullptr) write_text(line);
  ::_exit(kSignalExit + signal_number);
}

extern "C" void note_interrupt(int) {
  if (interrupted != 0) end_at_once(SIGINT);
  interrupted = 1;
  write_text(interrupt_text.load());
}

extern "C" void note_termination(int) {
  if (terminated != 0) end_at_once(SIGTERM);
  terminated = 1;
}

}  // namespace

void watch_interrupts() { std::signal(SIGINT, note_interrupt); }

void watch_termination(const std::filesystem::path& run) {
  resume_text = "to continue it: bet resume " + run.string() + "\n";
  resume_line = resume_text.c_str();
  std::signal(SIGTERM, note_termination);
}

void say_at_interrupt(const char* text) { interrupt_text = text; }

bool take_interrupt() {
  if (interrupted == 0 || acted_on) return false;
  acted_on = true;
  return true;
}

bool is_terminated() { return terminated != 0; }

int interrupted_exit_code() { return kSignalExit + (terminated != 0 ? SIGTERM : SIGINT); }

}  // namespace bet
