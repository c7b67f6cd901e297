/*
 * Stack distances: fully associative LRU caches of every capacity at once, in a single pass over the used lines.
 *
 * The distance of a use is the number of distinct lines used since the last use of the line. A cache of n lines hits
 * exactly the uses with distance < n (Mattson, Gecsei, Slutz, Traiger, IBM Systems Journal 9, 1970). Each use costs
 * O(log m), m being the number of distinct lines so far, amortised. Lines always used one after another in a fixed
 * order have equal distances: they can be used as a run, at the cost of a single line.
 */
#ifndef SIM_STACKDIST_H
#define SIM_STACKDIST_H

#include <stdint.h>

#define SIM_STACKDIST_COLD UINT64_MAX /* first use of a line */

struct sim_stackdist; /* not thread-safe; distinct objects are independent */

int sim_stackdist_new(struct sim_stackdist **s);  /* 0 or -ENOMEM */
void sim_stackdist_free(struct sim_stackdist *s); /* NULL is fine */

/*
 * Uses a line, given by its number (address / line size), and stores the distance, or SIM_STACKDIST_COLD. Returns 0, or
 * -ENOMEM with nothing changed.
 */
int sim_stackdist_use(struct sim_stackdist *s, uint64_t line, uint64_t *distance);

/*
 * Uses all lines of a run, at least one, in their order; *distance is the distance of each line. A run is named by a
 * line of the run. Lines of a run may not be used alone or in another run.
 */
int sim_stackdist_use_run(struct sim_stackdist *s, uint64_t line, uint64_t n_lines, uint64_t *distance);

/* Returns the uses so far; the uses that a cache of n_lines misses, first uses included (n_lines = 0 misses all). */
uint64_t sim_stackdist_uses(const struct sim_stackdist *s);
uint64_t sim_stackdist_misses(const struct sim_stackdist *s, uint64_t n_lines);

#endif
