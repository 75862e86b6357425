#define BET_ISA row_plain
#define BET_ISA_NAME "plain"
#include "runtime/row_kernels.inc"
