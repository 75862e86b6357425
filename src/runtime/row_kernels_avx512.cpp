#define BET_ISA row_avx512
#define BET_ISA_NAME "avx512"
#include "runtime/row_kernels.inc"
