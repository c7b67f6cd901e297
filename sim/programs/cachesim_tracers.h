/* Programs that are traced while they run: the part of cachesim_source.h for QEMU and Valgrind. */
#ifndef SIM_CACHESIM_TRACERS_H
#define SIM_CACHESIM_TRACERS_H

#include "sim/programs/cachesim_source.h"
#include "sim/base/why.h"

/* Starts the program of the options under a tracer. Returns 0, or -errno with a line in why and nothing to release. */
int cachesim_tracers_run(struct cachesim_source *s, const struct cachesim_options *o, struct sim_why why);

/*
 * Judges how the program ended; status: from waitpid(). Returns as cachesim_source_close. Valgrind's last words or the
 * note of QEMU's tracer explain a trace without an end.
 */
int cachesim_tracers_judge(const struct cachesim_source *s, int status, const struct cachesim_end *e,
                           struct sim_why why);

/* Closes files opened for the program or its tracer; does nothing for a source without a program. */
void cachesim_tracers_release(struct cachesim_source *s);

#endif
