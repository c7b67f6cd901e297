/* Measurements of `make bench-speed` beside those of micro-kernels, SConv and replays. */
#ifndef EXPERIMENTS_SPEED_SPEED_H
#define EXPERIMENTS_SPEED_SPEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "experiments/base/stats.h"

/*
 * Runs n contenders in turns, so many rounds after an untimed one each; fastest_ns[n] is of each one's rounds. Returns
 * as exp_bench_run.
 */
int exp_bench_fastest(const struct exp_contender *contender, size_t n, size_t n_rounds, uint64_t (*now_ns)(void),
                      uint64_t *fastest_ns);

/* Times the micro-kernels of AVX2 and AVX-512 that run here, and the portable one; prints a table of register tiles:
 * what the core's ports allow, beside what is reached out of L1 and out of L2. Returns 0 or -errno. */
int exp_bench_tiles(void);

/*
 * Times every layer of models (exp_models_read) with one image and with two, on 1, 2, ... of the cores that this
 * process may use: with threads that each run starts, and with those of a team. Prints what each model takes, and if
 * asked what each of its shapes takes. Layers are hot: a layer runs again and again, and the numbers of threads take
 * turns. Call it before the program pins itself, as threads inherit where they may run. Returns 0, or -errno with one
 * line in why.
 */
int exp_bench_threads(const char *list, bool shows_layers, struct exp_why *why);

#endif
