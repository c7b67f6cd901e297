#ifdef __AVX2__
#define LANES 8
#define TILE_ROWS 6
#define LOOPS op_loops__avx2
#include "experiments/network/operators/loops.inc"
#endif

typedef int nothing_on_other_cpus;
