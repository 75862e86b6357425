#pragma once

namespace bet {

// From here on the first Ctrl-C (or SIGTERM) is only noted; a second one ends the process at once
// with exit code 130.
void watch_interrupts();

// Whether one was noted.
bool interrupted();

}  // namespace bet
