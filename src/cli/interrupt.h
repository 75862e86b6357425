#pragma once

#include <filesystem>

namespace bet {

// From here on the first Ctrl-C (SIGINT) is only noted; a second one ends the process at once with
// exit code 130.
void watch_interrupts();

// Once `run` can be resumed: SIGTERM is noted too, a second one ends the process at once with exit
// code 143, and whatever ends it at once prints the command that resumes the run.
void watch_termination(const std::filesystem::path& run);

// What a first Ctrl-C prints from here on: `text` must live for ever and end its line.
void say_at_interrupt(const char* text);
constexpr const char* kFinishing =
    "\nCtrl-C: finishing with the best so far; press Ctrl-C again to stop at once\n";
constexpr const char* kNothingToFinish =
    "\nCtrl-C: there is no model to finish with yet; saving what there is and stopping\n";

// True once after a Ctrl-C was noted: the work in progress then ends with the best so far, and the
// run continues from there.
bool take_interrupt();

// True after SIGTERM: the run is to be saved and left.
bool is_terminated();

// Of a process that was stopped by the signal that was noted: 143 after SIGTERM, else 130.
int interrupted_exit_code();

}  // namespace bet
