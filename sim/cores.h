/*
 * Several cores at work at once. Each core has its own inner levels, TLBs, prefetchers and write-combining buffers. All
 * cores share the last level: a line that a core brings there is found there by every core, or takes the place of
 * another core's line.
 *
 * Each core has a sink. Bursts of different cores may come in any order; a burst is simulated whole. The caller decides
 * how the cores' work interleaves. Counts are kept by core, including the counts of the last level. There is no
 * coherence between the inner levels: a line that a core has written is not taken from another core. The threads of a
 * convolution write different lines, except at the edges of their shares, and need no coherence.
 */
#ifndef SIM_CORES_H
#define SIM_CORES_H

#include "sim/base/access.h"
#include "sim/machine/machine.h"
#include "sim/base/stats.h"

struct sim_cores; /* not thread-safe */

/*
 * Returns why cores cannot share the last level, in a few words; NULL: the cores can share the level. Reasons: the
 * machine has a single level; the last level is inclusive or exclusive, and would reach into the inner levels of
 * several cores; the last level has prefetchers with `late`, and each core counts time by itself.
 */
const char *sim_cores_why_not(const struct sim_machine *m);

/*
 * Builds n_cores empty cores of a machine. Returns 0; -EINVAL for 0 cores or a machine that does not validate; -ENOTSUP
 * if sim_cores_why_not() has a reason; -ENOMEM.
 */
int sim_cores_new(struct sim_cores **c, const struct sim_machine *m, unsigned n_cores);
void sim_cores_free(struct sim_cores *c); /* NULL is fine */

struct sim_sink *sim_cores_sink(struct sim_cores *c, unsigned core);
const struct sim_stats *sim_cores_stats(const struct sim_cores *c, unsigned core);

/* Returns sim_hierarchy_error() of the first core with an error; 0: no core has an error. */
int sim_cores_error(const struct sim_cores *c);

#endif
