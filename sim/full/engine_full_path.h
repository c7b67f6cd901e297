/*
 * A request on its way out through the full engine's levels, with everything that it counts. Internal.
 *
 * It may cause three things: a fetch further out, a write passing on, and a victim. While they happen, only levels
 * further out are changed, and levels inside only lose lines: prefetches, which would break that, wait in a queue until
 * the access is through. So one victim per level can be on its way out at a time (`leaving`), and the line just brought
 * in is never the one that an inclusive level throws out: such a level evicts only when it fills, and it fills only
 * lines that no level inside had before this request.
 */
#ifndef SIM_ENGINE_FULL_PATH_H
#define SIM_ENGINE_FULL_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/full/engine_full.h"

/* A write on its way out. */
struct sim_full_write {
    uint64_t addr;
    uint64_t bytes;
    bool is_store;    /* of the core, not a write-back */
    bool is_eviction; /* straight from the level inside */
};

/*
 * A read arriving at level k, which whoever asks has counted. Returns dirty and the owner if the line comes out of an
 * exclusive level with them.
 */
uint8_t sim_full_read_line(struct sim_full *e, size_t k, uint64_t line, struct sim_full_request *r);

/* A write of (part of) one line arriving at level k; counted likewise. */
void sim_full_write_line(struct sim_full *e, size_t k, uint64_t line, const struct sim_full_write *w,
                         struct sim_full_request *r);

/* Brings a line into level k that is not there, victim included. */
void sim_full_bring(struct sim_full *e, size_t k, uint64_t line, struct sim_full_place *p, struct sim_full_request *r,
                    uint8_t flags);

/* Shows a request to level k's shadow, if it has one; counts the class of a miss. */
static inline void sim_full_classify(struct sim_full *e, size_t k, uint64_t line, enum sim_shadow_use how, bool is_miss,
                                     const struct sim_full_request *r)
{
    struct sim_level_counts *c = &r->cell->level[k];
    int found;

    if (!e->level[k].is_classified)
        return;
    found = sim_shadow_use(e->level[k].shadow, line, how);
    e->n_changes += found != SIM_SHADOW_HIT;
    if (found < 0)
        e->base.err = found;
    else if (is_miss)
        *(found == SIM_SHADOW_NEW    ? &c->compulsory_misses
          : found == SIM_SHADOW_LOST ? &c->capacity_misses
                                     : &c->conflict_misses) += 1;
}

/* Writes a dirty line that leaves level k, or is cleaned there, to level `to`. */
void sim_full_write_back(struct sim_full *e, size_t k, size_t to, uint64_t line, uint8_t flags, unsigned phase);

/* Drops a line, wherever in level k it is, even on its way out. Returns whether it was there, with its flags. */
bool sim_full_drop(struct sim_full *e, size_t k, uint64_t line, unsigned phase, uint8_t *flags);

#endif
