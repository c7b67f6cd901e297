/*
 * Latency and bandwidth of every level of a computer's caches and of its memory.
 *
 * Latency: a ring of loads that wait for each other. It is brought into the level by reading twice as much other memory
 * as the level inside holds, or, for memory, by flushing. Its lines lie so far apart that prefetchers do not follow,
 * and in so few pages that the TLBs hold them.
 *
 * Bandwidth: loops of loads and of stores, of every width, in a working set that fits the level and is larger than the
 * one inside; for memory over lines that have been flushed.
 *
 * All take turns in rounds; the fastest round of each counts, since disturbances only slow it down.
 */
#ifndef EXPERIMENTS_EXP_SPEEDS_H
#define EXPERIMENTS_EXP_SPEEDS_H

#include <stdio.h>

#include "experiments/base/exp_bench.h"
#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/calibrate/exp_computer.h"
#include "sim/machine/machine.h"

enum { EXP_MAX_STREAMS = 12 };

struct exp_level_speed {
    char name[16];                        /* of the level, or "memory" */
    struct exp_ring ring;                 /* for the latency */
    size_t set_bytes;                     /* for bandwidths */
    double latency_ns, latency_median_ns; /* the fastest round, and the median one */
    double bytes_per_ns[EXP_MAX_STREAMS]; /* as ctr_streams; 0: this CPU has none so wide */
};

struct exp_speeds {
    double clock_ghz; /* the fastest seen */
    size_t n;
    struct exp_level_speed level[SIM_MAX_LEVELS + 1]; /* memory last */
};

/* The working sets for machine m, nothing measured yet. */
void exp_speeds_plan(struct exp_speeds *s, const struct sim_machine *m);

/* The most memory that one takes, and that is swept. */
size_t exp_speeds_set_bytes(const struct exp_speeds *s);
size_t exp_speeds_sweep_bytes(const struct exp_speeds *s);

/*
 * Measures, as many rounds as exp_rounds_end says. Returns 0; -EINTR; -ENODATA if nothing tells the core's clock, or a
 * level is not slower than the one inside, with one line in why; -ENOMEM.
 */
int exp_speeds_measure(struct exp_speeds *s, const struct exp_computer *c, const struct exp_rounds *rounds,
                       bool (*interrupted)(void), struct exp_why *why);

/* Puts latencies, bandwidths and the clock into m, which they were planned for. */
void exp_speeds_apply(const struct exp_speeds *s, struct sim_machine *m);

void exp_speeds_print(const struct exp_speeds *s, FILE *out);

extern const struct exp_csv_file exp_speeds_file;
void exp_speeds_write(const struct exp_speeds *s, struct exp_csv *csv);

#endif
