/*
 * A fake computer with counters: a counter source for tests of everything above the source. Known work (ctr_loop.h) is
 * counted by the claims; any region after known work is counted as `region`. The test sets the faults.
 *
 * Event code i counts the i-th common quantity (ctr_quantity.h); codes above follow in the order of enum. Codes of real
 * CPUs count as documented by their makers, so that real groups can be tried.
 */
#ifndef TESTS_COUNTERS_FAKE_COUNTERS_H
#define TESTS_COUNTERS_FAKE_COUNTERS_H

#include <stdbool.h>

#include "counters/perf/ctr_source.h"

enum {
    FAKE_PREFETCHES = 13, /* the number of common quantities */
    FAKE_L1_MISSES,
    FAKE_L2_MISSES,
    FAKE_L3_MISSES,
    N_FAKE_EVENTS,
};

#define FAKE_GROUPS_DIR "tests/data/counters"

struct fake_counters {
    struct ctr_source source;
    unsigned n_counters;
    unsigned n_taken;                 /* by a watchdog: a set that needs a taken counter never runs */
    bool is_dead[CTR_MAX_SET_EVENTS]; /* counters that stand still */
    double factor[N_FAKE_EVENTS];     /* 1; not 1: the event lies */
    unsigned running_percent;         /* of the time that sets are on the counters, if at all */
    unsigned n_bits;                  /* width; 0: never overflows */
    int refusal;                      /* -errno from open; 0: none */
    double region[N_FAKE_EVENTS];     /* counts of a region without a loop, after the proof */
    unsigned n_open;                  /* open sets */

    double made[N_FAKE_EVENTS]; /* since the start */
    bool ran_loop;
    bool has_proven; /* a loop ran since sets were opened: regions without a loop were empty before, and are work now */
};

/* Makes six counters without fault. f->source is the source; f must not move. */
void fake_counters_init(struct fake_counters *f);

#endif
