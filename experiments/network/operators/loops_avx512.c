#ifdef __AVX512F__
#define LANES 16
#define TILE_ROWS 8
#define LOOPS op_loops__avx512
#define HAS_MASKS
#include "experiments/network/operators/loops.inc"
#endif

typedef int nothing_on_other_cpus;
