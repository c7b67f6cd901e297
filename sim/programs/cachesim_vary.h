/* Several configurations of a machine in a pass over the trace: a row of counts for each configuration. */
#ifndef SIM_CACHESIM_VARY_H
#define SIM_CACHESIM_VARY_H

#include "sim/programs/cachesim_session.h"

/* Simulates the grid of --vary and prints the rows to standard output. Returns as cachesim_run_passes. */
int cachesim_vary(struct cachesim_session *s);

#endif
