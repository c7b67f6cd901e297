/* For any CPU: vectors of 16 bytes are what each has, or what its compiler makes of them. */
#define LANES 4
#define TILE_ROWS 4
#define LOOPS op_loops__ref
#include "experiments/network/operators/loops.inc"
