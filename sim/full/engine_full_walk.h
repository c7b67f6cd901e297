/*
 * Bursts on their way into the full engine: through bursts_tmpl.h if their accesses do nothing that it does not know,
 * else access by access. Internal.
 */
#ifndef SIM_ENGINE_FULL_WALK_H
#define SIM_ENGINE_FULL_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "sim/access.h"

/* The engine's sink.accept. */
void sim_full_accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times);

#endif
