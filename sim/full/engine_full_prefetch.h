/*
 * What the full engine's prefetchers (prefetch.h) ask for: lines that wait in a queue until the access that made them
 * ask is through. A full queue and requests that leave the block of 4 KiB drop what is asked for. Internal.
 */
#ifndef SIM_ENGINE_FULL_PREFETCH_H
#define SIM_ENGINE_FULL_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/full/engine_full.h"

/* Lets the prefetchers of level k, which has some, see a request before its line is used. */
void sim_full_watch(struct sim_full *e, size_t k, uint64_t line, const struct sim_full_place *p,
                    const struct sim_full_request *r);

/* How often requests have changed the prefetchers of a level: see sim_prefetch_ask. */
uint64_t sim_full_prefetch_changes(const struct sim_full_level *l);

/* Takes the line that has waited longest out of the queue, which is not empty. It is good until another is wanted. */
const struct sim_full_wanted *sim_full_next_wanted(struct sim_full *e);

#endif
