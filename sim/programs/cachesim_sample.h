/*
 * A sampled simulation (--sample) of a long trace, or of a program.
 *
 * Nothing is known of a trace before its end, so a sample takes windows: units of some ten thousand accesses. A drawn unit
 * is simulated and counted, after a unit that warms up the first level and the prefetchers. In skipped units, a small
 * cache with the first level's sets and ways tells which lines leave the first level; these lines go through TLBs and the
 * caches behind the first (sim_hierarchy_touch). A segment is a row of units of which one is drawn, at a random place.
 * The first units are all drawn. Then a segment grows while the interval of the first level's lines is narrow enough, and
 * shrinks where the interval is too wide.
 *
 * Loads, stores and bytes are exact. Lines from and to memory are counted in all units. Each further count is the sum
 * over segments of the drawn unit's count, scaled to the segment's accesses. The variance comes from differences between
 * neighbouring segments (Wolter, Introduction to Variance Estimation, 2nd ed., ch. 8), and each interval has a bias for
 * what a warm-up cannot restore.
 *
 * Source: SMARTS (Wunderlich and others, ISCA 2003).
 */
#ifndef SIM_CACHESIM_SAMPLE_H
#define SIM_CACHESIM_SAMPLE_H

#include "sim/hierarchy.h"
#include "sim/report/report.h"

struct cachesim_sample;

/*
 * Samples a simulation on h of machine m, to a half width of 95 % intervals over the count of lines that enter the first
 * level. Returns 0 or -ENOMEM.
 */
int cachesim_sample_new(struct cachesim_sample **s, const struct sim_machine *m, struct sim_hierarchy *h,
                        unsigned n_tags, double target, uint64_t seed);
void cachesim_sample_free(struct cachesim_sample *s); /* NULL is fine */

struct sim_sink *cachesim_sample_sink(struct cachesim_sample *s);

/* Ends the sample. Returns the estimates, as sim_hierarchy_stats() would return counts; owned by s. */
const struct sim_stats *cachesim_sample_stats(struct cachesim_sample *s);

/* Returns the intervals, once the sample has ended; owned by s. */
const struct sim_report_sample *cachesim_sample_intervals(const struct cachesim_sample *s);

#endif
