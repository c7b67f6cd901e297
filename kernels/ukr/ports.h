/*
 * Finds by timing what the core issues, for programs that have no machine file: nothing that a CPU tells about itself
 * says how many 512-bit multiply-adds it starts in a cycle.
 */
#ifndef KERNELS_UKR_PORTS_H
#define KERNELS_UKR_PORTS_H

#include <stdbool.h>

struct conv_ports {
    double macs_per_cycle;  /* instructions on 512-bit vectors: one or two */
    double loads_per_cycle; /* what L1 sustains; less than the ports could do */
};

/*
 * Times loops on AVX-512 vectors beside one on AVX2 vectors, of which all these cores start two multiply-adds a cycle:
 * the clock need not be known. Takes a fifth of a millisecond; the loops take turns, and the fastest of several rounds
 * counts, so that a busy computer disturbs little. Returns false, with nothing found, where one of them does not run.
 */
bool conv_ports_measure(struct conv_ports *ports);

#endif
