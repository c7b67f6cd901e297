/* Programs that are traced while they run: the part of cachesim_source.h that knows QEMU and Valgrind. */
#ifndef SIM_CACHESIM_TRACERS_H
#define SIM_CACHESIM_TRACERS_H

#include "sim/programs/cachesim_source.h"

/* Starts the program of the options under a tracer. Returns 0, or -errno with one line in why and nothing to release. */
int cachesim_tracers_run(struct cachesim_source *s, const struct cachesim_options *o, char *why, size_t why_bytes);

/*
 * Says how the program ended, of which waitpid() tells status: as cachesim_source_close. A trace without an end is
 * explained by Valgrind's words, or by what QEMU's tracer noted.
 */
int cachesim_tracers_judge(const struct cachesim_source *s, int status, const struct cachesim_end *e, char *why,
                           size_t why_bytes);

/* Closes what the program or its tracer had to open; of a source without a program, nothing. */
void cachesim_tracers_release(struct cachesim_source *s);

#endif
