/*
 * Several cores at work at once: each has levels, TLBs, prefetchers and write-combining buffers of its own, and all
 * have one last level. What one core brings there, another finds there, or loses its lines to.
 *
 * Each core has a sink, and their bursts may come in any order, each whole: the caller decides how the cores' work
 * interleaves. Counts are kept apart by core; those of the last level, too, go to whoever asked. Levels of different
 * cores do not know of each other: a line that one core has written is not taken from another. Cores that write
 * different lines, as the threads of a convolution do but for those at the edges of their shares, have nothing to tell
 * each other.
 */
#ifndef SIM_CORES_H
#define SIM_CORES_H

#include "sim/base/access.h"
#include "sim/machine/machine.h"
#include "sim/base/stats.h"

struct sim_cores; /* not thread-safe */

/*
 * Says why cores cannot have one last level, in a few words: there is only one level; the last one includes or excludes
 * the others, which would reach into other cores' levels; it has prefetchers with `late`, and time is counted by each
 * core. NULL if they can.
 */
const char *sim_cores_why_not(const struct sim_machine *m);

/*
 * Builds n_cores empty cores of a machine. Returns 0; -EINVAL for none, or a machine that does not validate; -ENOTSUP
 * for one with a sim_cores_why_not(); -ENOMEM.
 */
int sim_cores_new(struct sim_cores **c, const struct sim_machine *m, unsigned n_cores);
void sim_cores_free(struct sim_cores *c); /* NULL is fine */

struct sim_sink *sim_cores_sink(struct sim_cores *c, unsigned core);
const struct sim_stats *sim_cores_stats(const struct sim_cores *c, unsigned core);

/* Returns what sim_hierarchy_error() says of the first core that has an error; 0 of none. */
int sim_cores_error(const struct sim_cores *c);

#endif
