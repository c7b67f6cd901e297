/*
 * Finds the working counters of this computer: all counters count the same event at once, during a loop with a known
 * number of events. Hypervisors hand out counters that stand still; the count of a dead counter is a false zero.
 *
 * A counter has no name, only a place in the set: the kernel deals the counters out in the set's order.
 */
#ifndef CTR_CENSUS_H
#define CTR_CENSUS_H

#include <stdbool.h>

#include "counters/group/ctr_cpu.h"
#include "counters/group/ctr_group.h"
#include "counters/perf/ctr_source.h"
#include "sim/base/why.h"

struct ctr_census {
    unsigned n_counters; /* usable at a time, good and bad */
    unsigned n_good;
    bool is_bad[CTR_MAX_SET_EVENTS];
    double counted[CTR_MAX_SET_EVENTS];
    double made;    /* on each */
    char note[320]; /* "" if all of the CPU's counters count, else a line that names the dead counters */
};

/*
 * Returns 0, -ENODATA if no counter counts, or -errno of the source, both with the reason and the remedy. *n is then
 * empty.
 */
int ctr_census_take(struct ctr_census *n, const struct ctr_source *source, const struct ctr_cpu *cpu,
                    struct ctr_ground *ground, struct sim_why why);

/*
 * Deals a group's events out to sets for the working counters of this computer. The file's order is kept as far as
 * there is room; events that the kernel refuses together go into different sets.
 *
 * Changes set and position of every event, n_sets and filler: an unread event occupies each dead counter that lies
 * between working counters. Returns 0, or -errno of the source with the reason.
 */
int ctr_fit(struct ctr_group *g, const struct ctr_source *source, const struct ctr_cpu *cpu,
            const struct ctr_census *census, struct sim_why why);

#endif
