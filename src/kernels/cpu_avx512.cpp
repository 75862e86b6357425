#define BET_ISA cpu_avx512
#define BET_ISA_NAME "avx512"
#include "kernels/cpu_kernels.inc"
