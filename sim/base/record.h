/*
 * Single accesses of eight bytes each, for streams without a structure that the simulator could use (a recorded trace,
 * an instrumented program). Streams with structure are faster as bursts (access.h).
 *
 *     bits 63..16  byte address, below 2^SIM_RECORD_ADDRESS_BITS
 *     bits 15..8   width of the access in bytes, less one: 1..256
 *     bits 7..5    phase
 *     bits 4..2    tag, below SIM_USUAL_TAGS
 *     bits 1..0    enum sim_kind
 *
 * Feeding n records counts exactly like n bursts of a single access.
 */
#ifndef SIM_RECORD_H
#define SIM_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/access.h"

enum {
    SIM_RECORD_ADDRESS_BITS = 48, /* as many as a user program's addresses have */
    SIM_RECORD_MAX_BYTES = 256,
    SIM_RECORD_ADDRESS_SHIFT = 16,
    SIM_RECORD_BYTES_SHIFT = 8,
    SIM_RECORD_PHASE_SHIFT = 5,
    SIM_RECORD_TAG_SHIFT = 2,
};

_Static_assert(SIM_N_KINDS <= 4 && SIM_USUAL_TAGS <= 8 && SIM_MAX_PHASES <= 8, "the fields must hold their values");

/* Tells whether an access fits into a record. Further accesses go through bursts. */
static inline bool sim_record_fits(uint64_t addr, uint32_t bytes)
{
    return addr >> SIM_RECORD_ADDRESS_BITS == 0 && bytes - 1 < SIM_RECORD_MAX_BYTES;
}

/* Packs an access that fits and has a usual tag. */
static inline uint64_t sim_record(uint64_t addr, uint32_t bytes, enum sim_kind kind, unsigned tag, unsigned phase)
{
    return addr << SIM_RECORD_ADDRESS_SHIFT | (uint64_t)(bytes - 1) << SIM_RECORD_BYTES_SHIFT |
           (uint64_t)phase << SIM_RECORD_PHASE_SHIFT | (uint64_t)tag << SIM_RECORD_TAG_SHIFT | (uint64_t)kind;
}

static inline uint64_t sim_record_addr(uint64_t record)
{
    return record >> SIM_RECORD_ADDRESS_SHIFT;
}

static inline uint32_t sim_record_bytes(uint64_t record)
{
    return (uint32_t)(record >> SIM_RECORD_BYTES_SHIFT & (SIM_RECORD_MAX_BYTES - 1)) + 1;
}

static inline unsigned sim_record_phase(uint64_t record)
{
    return (unsigned)(record >> SIM_RECORD_PHASE_SHIFT & (SIM_MAX_PHASES - 1));
}

static inline unsigned sim_record_tag(uint64_t record)
{
    return (unsigned)(record >> SIM_RECORD_TAG_SHIFT & (SIM_USUAL_TAGS - 1));
}

static inline unsigned sim_record_kind(uint64_t record)
{
    return (unsigned)(record & 3);
}

/* Returns the access as a run of length 1. */
static inline struct sim_run sim_record_run(uint64_t record)
{
    return (struct sim_run){
        .addr = sim_record_addr(record),
        .count = 1,
        .access_bytes = sim_record_bytes(record),
        .kind = (uint8_t)sim_record_kind(record),
        .tag = (uint8_t)sim_record_tag(record),
        .phase = (uint8_t)sim_record_phase(record),
    };
}

#endif
