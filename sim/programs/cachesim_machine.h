/* The machine that cachesim's options describe. */
#ifndef SIM_CACHESIM_MACHINE_H
#define SIM_CACHESIM_MACHINE_H

#include "sim/programs/cachesim_options.h"

/* Finds and checks that machine. Returns 0, or -errno with one line in why. */
int cachesim_machine(const struct cachesim_options *o, struct sim_machine *m, char *why, size_t why_bytes);

#endif
