/* Measures what the core issues: no CPU tells how many 512-bit multiply-adds it starts in a cycle. */
#ifndef KERNELS_UKR_PORTS_H
#define KERNELS_UKR_PORTS_H

#include <stdbool.h>

struct conv_ports {
    double macs_per_cycle;  /* instructions on 512-bit vectors: one or two */
    double loads_per_cycle; /* sustained by L1; less than the ports could do */
};

/*
 * Times loops on AVX-512 vectors and a loop on AVX2 vectors. All AVX-512 cores start two AVX2 multiply-adds a cycle, so
 * the clock need not be known. Takes a fifth of a millisecond; the loops take turns, and the fastest of several rounds
 * counts, so that a busy computer disturbs little. Returns false, with nothing found, where a loop does not run.
 */
bool conv_ports_measure(struct conv_ports *ports);

#endif
