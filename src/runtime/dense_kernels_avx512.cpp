#define BET_ISA dense_avx512
#define BET_ISA_NAME "avx512"
#include "runtime/dense_kernels.inc"
