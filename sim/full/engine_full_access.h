/*
 * One access to the full engine, or the part of one in a line of the first level. Internal.
 */
#ifndef SIM_ENGINE_FULL_ACCESS_H
#define SIM_ENGINE_FULL_ACCESS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/access.h"
#include "sim/full/engine_full.h"

/*
 * Makes one access of a run, which stands at this place of its burst. Kinds are what the machine makes of them: no
 * prefetch instruction that it ignores, no non-temporal store if it has no buffers for them.
 */
void sim_full_access(struct sim_full *e, const struct sim_run *run, unsigned kind, uint64_t addr, unsigned place);

/* Makes an access's part in one line: its pages and buffers have been dealt with, and the line is counted. */
void sim_full_access_line(struct sim_full *e, unsigned kind, uint64_t addr, uint64_t bytes, struct sim_full_request *r);

/* Brings in what prefetchers wait for, until they ask for nothing more. */
void sim_full_run_queue(struct sim_full *e);

/* Counts a load that is through. */
static inline void sim_full_count_load_misses(struct sim_full_request *r)
{
    for (size_t k = 0; k < r->source; k++)
        r->cell->level[k].load_misses++;
    r->source = 0;
}

#endif
