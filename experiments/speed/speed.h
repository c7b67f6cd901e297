/* Measurements of `make bench-speed` beside micro-kernels, SConv and replays. */
#ifndef EXPERIMENTS_SPEED_SPEED_H
#define EXPERIMENTS_SPEED_SPEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "experiments/base/stats.h"

/*
 * Runs n contenders in turns, n_rounds rounds after one untimed round each; fastest_ns[n] is the fastest round of each
 * contender. Returns as exp_bench_run.
 */
int exp_bench_fastest(const struct exp_contender *contender, size_t n, size_t n_rounds, uint64_t (*now_ns)(void),
                      uint64_t *fastest_ns);

/*
 * Times the micro-kernels of AVX2 and AVX-512 that run here, and the portable micro-kernel; prints a table of register
 * tiles: the limit of the core's ports, beside the speed from L1 and from L2. Returns 0 or -errno.
 */
int exp_bench_tiles(void);

/*
 * Times every layer of models (exp_models_read) with one image and with two, on 1, 2, ... of this process's cores: with
 * threads started by each run, and with threads of a team. Prints the time of each model, and if asked the time of each
 * shape. Layers are hot: a layer runs again and again, and the numbers of threads take turns. Call before the program
 * pins itself, because threads inherit the pin. Returns 0, or -errno with one line in why.
 */
int exp_bench_threads(const char *list, bool shows_layers, struct exp_why *why);

#endif
