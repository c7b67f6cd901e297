/* The machine that cachesim's options describe. */
#ifndef SIM_CACHESIM_MACHINE_H
#define SIM_CACHESIM_MACHINE_H

#include "sim/machine/machine_host.h"
#include "sim/programs/cachesim_options.h"
#include "sim/base/why.h"

enum { CACHESIM_SOURCE_BYTES = 1200 + SIM_NOTES_BYTES };

/*
 * Finds and checks that machine; "host" is the one that the experiments mean by it (machine_here.h). source: where its
 * values are from, should they be from several places; else "". Returns 0, or -errno with one line in why.
 */
int cachesim_machine(const struct cachesim_options *o, struct sim_machine *m, char source[static CACHESIM_SOURCE_BYTES],
                     struct sim_why why);

#endif
