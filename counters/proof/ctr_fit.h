/*
 * Deals a group's events out to sets that the working counters of this computer can hold. The order of the file is
 * kept as far as there is room; events that the kernel refuses together come into different sets.
 */
#ifndef CTR_FIT_H
#define CTR_FIT_H

#include "counters/proof/ctr_census.h"
#include "counters/group/ctr_cpu.h"
#include "counters/group/ctr_group.h"
#include "counters/perf/ctr_source.h"

/*
 * Changes set and position of every event, n_sets and filler: where a counter that does not count lies between others,
 * an event that nobody reads occupies it. Returns 0, or -errno of the source with the reason.
 */
int ctr_fit(struct ctr_group *g, const struct ctr_source *source, const struct ctr_cpu *cpu,
            const struct ctr_census *census, char *why, size_t why_bytes);

#endif
