#define BET_ISA cpu_plain
#define BET_ISA_NAME "plain"
#include "kernels/cpu_kernels.inc"
