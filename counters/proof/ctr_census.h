/*
 * Tells which counters of this computer count: the same event on all of them at once, while a loop makes a known number
 * of it. Hypervisors hand out counters that stand still, and such a counter makes a false zero of whatever it is given.
 *
 * Counters have no names here but their order in a set: the kernel deals them out in that order.
 */
#ifndef CTR_CENSUS_H
#define CTR_CENSUS_H

#include <stdbool.h>

#include "counters/group/ctr_cpu.h"
#include "counters/group/ctr_group.h"
#include "counters/perf/ctr_source.h"

struct ctr_census {
    unsigned n_counters; /* that can be used at the same time, good and bad */
    unsigned n_good;
    bool is_bad[CTR_MAX_SET_EVENTS];
    double counted[CTR_MAX_SET_EVENTS];
    double made;    /* on each */
    char note[320]; /* "" if all of the CPU's counters count, else one line that names the others */
};

/*
 * Returns 0, -ENODATA if no counter counts, or -errno of the source, both with the reason and the remedy. *n is then
 * empty.
 */
int ctr_census_take(struct ctr_census *n, const struct ctr_source *source, const struct ctr_cpu *cpu,
                    struct ctr_ground *ground, char *why, size_t why_bytes);

/*
 * Deals a group's events out to sets that the working counters of this computer can hold. The order of the file is
 * kept as far as there is room; events that the kernel refuses together come into different sets.
 *
 * Changes set and position of every event, n_sets and filler: where a counter that does not count lies between others,
 * an event that nobody reads occupies it. Returns 0, or -errno of the source with the reason.
 */
int ctr_fit(struct ctr_group *g, const struct ctr_source *source, const struct ctr_cpu *cpu,
            const struct ctr_census *census, char *why, size_t why_bytes);

#endif
