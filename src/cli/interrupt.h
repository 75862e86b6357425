#pragma once

namespace bet {

// From here on the first Ctrl-C (or SIGTERM) is only noted; a second one ends the process at once
// with exit code 130.
void watch_interrupts();

// True once after one was noted: what is under way then ends with the best so far, and the work
// goes on from there.
bool take_interrupt();

}  // namespace bet
