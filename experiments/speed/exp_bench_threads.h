/* Speed of libsconv on several threads. */
#ifndef EXPERIMENTS_EXP_BENCH_THREADS_H
#define EXPERIMENTS_EXP_BENCH_THREADS_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"

/*
 * Times every layer of models (exp_models_read) with one image and with two, on 1, 2, ... of the cores that this
 * process may use: with threads that each run starts, and with those of a team. Prints what each model takes, and if
 * asked what each of its shapes takes. Layers are hot: a layer runs again and again, and the numbers of threads take
 * turns. Call it before the program pins itself, as threads inherit where they may run. Returns 0, or -errno with one
 * line in why.
 */
int exp_bench_threads(const char *list, bool shows_layers, struct exp_why *why);

#endif
