// The `main` of the program `bet`, for run_bet.
#define main bet_main
#include "cli/main.cpp"
#undef main

#include "support/run_program.h"

namespace bet::test {
namespace {

[[maybe_unused]] const bool kIsKnown = set_bet_main(bet_main);

}  // namespace
}  // namespace bet::test
