/* For any CPU: the compiler turns vectors of 16 bytes into the CPU's instructions. */
#define LANES 4
#define TILE_ROWS 4
#define LOOPS op_loops__ref
#include "experiments/network/operators/loops.inc"
