/*
 * Bursts on their way into the full engine: run by run, access by access, line by line. Internal.
 */
#ifndef SIM_ENGINE_FULL_WALK_H
#define SIM_ENGINE_FULL_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "sim/access.h"
#include "sim/full/engine_full.h"

/* The engine's sink.accept. */
void sim_full_accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times);

/* Brings in what prefetchers wait for, until they ask for nothing more. */
void sim_full_run_queue(struct sim_full *e);

#endif
