/*
 * Estimates the cycles of counts, by the latencies and bandwidths of the machine file. An estimate for comparing
 * algorithms, not a prediction of time: nothing overlaps within a term, and terms are independent of each other.
 *
 * Sources serve loads: the levels, from the core outwards, then memory.
 *
 *   latency    loads served by the source * its latency. Summed over the sources beyond the first level, the term is
 *              SConv Eq. 6, C_TOTAL = C_DRAM N_DRAM + C_L3 N_L3 + C_L2 N_L2, with the simulated N instead of Eq. 7,
 *              13 and 14. A load that straddles lines counts once, with its farthest source; stores and prefetches do
 *              not count
 *   lines      lines that the source delivered to the level inside, for loads, stores (a store that misses fetches its
 *              line) and prefetches, * its latency; at the first level, reads and writes that hit. The sum over the
 *              sources is Eq. 6 with all lines: a loop nest that scatters its stores shows here
 *   transfer   bytes that moved between the source and the level inside (for the first level: the core) / its
 *              bandwidth, if the machine file states one. Lines count whole: fetches, prefetches included,
 *              write-backs and clean fills; also writes that a write-through level passes on, so that the term is an
 *              upper bound there. At the first level the bytes are the bytes of loads and stores; at memory, all bytes
 *              that reached memory
 */
#ifndef SIM_ESTIMATE_H
#define SIM_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/machine/machine.h"
#include "sim/base/stats.h"

struct sim_estimate_source {
    uint64_t loads;
    double latency_cycles;
    uint64_t lines;
    double lines_cycles;
    uint64_t bytes;
    double transfer_cycles; /* 0 without has_bandwidth */
    bool has_bandwidth;
};

struct sim_estimate {
    size_t n_sources; /* levels + 1 */
    struct sim_estimate_source source[SIM_MAX_LEVELS + 1];
    double sconv_eq6_cycles;        /* latency, without the first level */
    double eq6_lines_cycles;        /* lines, likewise */
    bool has_transfers;             /* every source has a bandwidth */
    double slowest_transfer_cycles; /* the greatest transfer term, a lower bound of the time; 0 without has_transfers */
};

/* Counts may be of everything, or of a tag or phase; they must come from a simulation of m. */
void sim_estimate(struct sim_estimate *e, const struct sim_machine *m, const struct sim_cell *counts);

#endif
