/* Register tiles: what the core's ports allow, beside what is reached out of L1 and out of L2. */
#ifndef EXPERIMENTS_EXP_BENCH_TILES_H
#define EXPERIMENTS_EXP_BENCH_TILES_H

/* Times the micro-kernels of AVX2 and AVX-512 that run here, and the portable one; prints a table. 0 or -errno. */
int exp_bench_tiles(void);

#endif
