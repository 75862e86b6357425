#define BET_ISA cpu_avx2
#define BET_ISA_NAME "avx2"
#include "kernels/cpu_kernels.inc"
