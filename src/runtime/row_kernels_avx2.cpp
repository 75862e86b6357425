#define BET_ISA row_avx2
#define BET_ISA_NAME "avx2"
#include "runtime/row_kernels.inc"
