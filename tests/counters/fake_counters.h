/*
 * A computer with counters, made up: a counter source for tests of everything above it. It counts known work
 * (ctr_loop.h) by what the claims say it makes, and after such work any other region as `region`. Faults are set by the
 * test.
 *
 * Event code i counts the i-th common quantity (ctr_quantity.h); codes above follow in the order of enum. Codes of real
 * CPUs count what their makers say, so that real groups can be tried.
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
    unsigned n_taken;                 /* by a watchdog: sets that need them never run */
    bool is_dead[CTR_MAX_SET_EVENTS]; /* counters that stand still */
    double factor[N_FAKE_EVENTS];     /* 1; of events that lie: another */
    unsigned running_percent;         /* of the time that sets are on the counters, if they are at all */
    unsigned n_bits;                  /* width; 0: never overflows */
    int refusal;                      /* -errno that open gives; 0: none */
    double region[N_FAKE_EVENTS];     /* what a region without a loop makes, once the counters were proven */
    unsigned n_open;                  /* sets that are open */

    double made[N_FAKE_EVENTS]; /* since the start */
    bool ran_loop;
    bool has_proven; /* a loop ran since sets were opened: regions without one were empty before, and are work now */
};

/* Makes six counters without fault. f->source is the source; f must not move. */
void fake_counters_init(struct fake_counters *f);

#endif
