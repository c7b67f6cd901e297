/*
 * Sources are what data are reused from, as PolyDL's and HayStack's models see a machine: its caches from the core
 * outwards, each fully associative, then memory.
 */
#ifndef EXPERIMENTS_EXP_SOURCES_H
#define EXPERIMENTS_EXP_SOURCES_H

#include <stddef.h>
#include <stdint.h>

#include "sim/machine/machine.h"

enum { EXP_MAX_SOURCES = SIM_MAX_LEVELS + 1 };

struct exp_source {
    uint64_t bytes;   /* 0 for memory, which holds everything */
    double latency;   /* cycles */
    double bandwidth; /* bytes per cycle towards the core; above 0 */
};

struct exp_sources {
    size_t n_caches;
    uint64_t line_bytes;                       /* of the first cache */
    struct exp_source source[EXP_MAX_SOURCES]; /* n_caches + 1 */
};

/*
 * Reads them off a machine of n_cores busy cores (at least 1), which share its last cache equally if it has three or
 * more. A bandwidth that the machine file does not state is, of the first cache, what the core can load per cycle;
 * else, and if the core's is not stated either, one line in every latency: what reads give that wait for each other.
 */
struct exp_sources exp_sources_of(const struct sim_machine *m, unsigned n_cores);

#endif
