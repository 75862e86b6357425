#define BET_ISA dense_avx2
#define BET_ISA_NAME "avx2"
#include "runtime/dense_kernels.inc"
