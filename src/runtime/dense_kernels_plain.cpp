#define BET_ISA dense_plain
#define BET_ISA_NAME "plain"
#include "runtime/dense_kernels.inc"
