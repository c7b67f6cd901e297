/*
 * The full engine's write-combining buffers: units (2^unit_shift bytes, aligned) that non-temporal stores have written
 * and that memory has not got yet. hierarchy.h says what they do. Internal.
 */
#ifndef SIM_ENGINE_FULL_COMBINE_H
#define SIM_ENGINE_FULL_COMBINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/full/engine_full.h"

/* A non-temporal store to a unit: no cache has it any more; the oldest buffer makes room should there be none. */
void sim_full_combine(struct sim_full *e, uint64_t unit, const struct sim_full_request *r);

/* Writes a unit's buffer to memory if it has one; all of them. */
void sim_full_drain_unit(struct sim_full *e, uint64_t unit, const struct sim_full_request *r);
void sim_full_drain(struct sim_full *e, unsigned phase);

bool sim_full_is_buffered(const struct sim_full *e, uint64_t unit);

#endif
