/* Sums of replays. */
#ifndef TESTS_KERNELS_TALLY_H
#define TESTS_KERNELS_TALLY_H

#include <stdint.h>

#include "kernels/backend/backend.h"

/* A sink that sums up, by tensor, phase and kind; and counts the runs that leave their tensor. */
struct tally {
    struct sim_sink sink;
    const struct conv_plan *plan;
    struct conv_binding bind;
    uint64_t n[CONV_N_TENSORS][CONV_N_PHASES][SIM_N_KINDS];
    uint64_t bytes[CONV_N_TENSORS][CONV_N_PHASES][SIM_N_KINDS];
    uint64_t n_outside; /* but prefetches of OpenBLAS's kernels */
};

/* Replays a plan into a tally. */
struct tally tally_of(const struct conv_plan *plan);

#endif
