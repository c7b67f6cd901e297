/*
 * Measures the simulator's speed, by stream (bench_streams.h), interface and engine. Three streams have been measured
 * on other simulators, too: a GEMM micro-kernel's, an im2col's, and uniformly random loads and stores over 64 MiB.
 * Three more streams are alike, with data beyond all caches.
 */
#ifndef SIM_BENCH_SIM_H
#define SIM_BENCH_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/base/access.h"
#include "sim/machine/machine.h"
#include "sim/base/stats.h"
#include "sim/base/why.h"

/* Another simulator, to compare speed and counts with. */
struct sim_bench_reference {
    const char *name;
    struct sim_sink *sink;
    void *ctx;
    const struct sim_stats *(*stats)(void *ctx);
    void (*clear)(void *ctx);
};

enum { SIM_BENCH_MAX_ROUNDS = 100 };

/* The choice to measure: lists of names with commas between; NULL: all names. */
struct sim_bench_choice {
    const char *engines; /* plain, full: the usual variants; avx512, avx2, portable, wide, full-avx512, ...: forced */
    const char *streams; /* gemm, im2col, random, gemm_big, im2col_big, rand_big */
    const char *interfaces; /* records (record.h), bursts (access.h), calls: bursts of a single access */
    const char *peers;      /* paths of other simulators' cores, see bench_peer.h; NULL: none */
    unsigned n_rounds;
    unsigned n_threads; /* more than 1: a further contender on n_threads threads, if the machine lets threads share */
    bool is_csv;        /* else a table */
};

/* The geometry of the published comparisons: 32 KiB / 8, 1 MiB / 16, 11 MiB / 11 ways, 64-byte lines. */
struct sim_machine sim_bench_machine(void);

/*
 * Stores a machine of the geometry by name, with features of the full engine. caches: none; prefetch: prefetchers in L1
 * and L2, two TLBs, software prefetches heeded; 3c: misses of all levels classified. Returns false for an unknown name.
 */
bool sim_bench_machine_called(const char *name, struct sim_machine *m);

/*
 * Simulates each stream from empty caches with each engine through each interface. All take turns, n_rounds times; the
 * reference, if there is one, runs once per stream. Writes million accesses per second: the fastest round, the median
 * and the slowest, by the processor time of the feeding thread; the caller pins the thread if need be. Several threads,
 * which all wait without working, have two rows: by processor time, and by the clock on the wall.
 *
 * Returns 0, or with a line in why: -EINVAL for an unknown name or a machine that the engine cannot run; -ENOTSUP for
 * an engine that this CPU does not execute, or a peer that cannot simulate the machine; -ENOENT for a missing peer;
 * -ENOMEM; -EDOM if any two disagree in any count, or a peer in the first level's misses; -EIO.
 */
int sim_bench(FILE *out, const struct sim_machine *m, const struct sim_bench_choice *choice,
              const struct sim_bench_reference *reference, struct sim_why why);

#endif
