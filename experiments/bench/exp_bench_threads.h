/* Speed of libsconv on several threads. */
#ifndef EXPERIMENTS_EXP_BENCH_THREADS_H
#define EXPERIMENTS_EXP_BENCH_THREADS_H

#include <stddef.h>

/*
 * Times every layer of the seven models with one image and with two, on 1, 2, ... of the cores that this process may use,
 * and prints what each model takes. Layers are hot: a layer runs again and again, and the numbers of threads take turns.
 * Call it before the program pins itself, as threads inherit where they may run. Returns 0, or -errno with one line in why.
 */
int exp_bench_threads(char *why, size_t why_bytes);

#endif
