/* The machine of cachesim's options. */
#ifndef SIM_CACHESIM_MACHINE_H
#define SIM_CACHESIM_MACHINE_H

#include "sim/machine/machine_host.h"
#include "sim/programs/cachesim_options.h"
#include "sim/base/why.h"

enum { CACHESIM_SOURCE_BYTES = 1200 + SIM_NOTES_BYTES };

/*
 * Finds and checks the machine; "host" has the experiments' meaning (machine_here.h). source: the sources of the
 * values, if there are several; else "". Returns 0, or -errno with a line in why.
 */
int cachesim_machine(const struct cachesim_options *o, struct sim_machine *m, char source[static CACHESIM_SOURCE_BYTES],
                     struct sim_why why);

#endif
