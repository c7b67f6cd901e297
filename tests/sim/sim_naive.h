/*
 * The semantics of sim/hierarchy.h, sim/replacement/replacement.h, sim/prefetch/prefetch.h, sim/full/pagemap.h and
 * sim/base/stats.h, word for word and slowly: the oracle for the engines, without code from the engines. The functions
 * mean the same as in sim/hierarchy.h.
 */
#ifndef TESTS_SIM_NAIVE_H
#define TESTS_SIM_NAIVE_H

#include <stdbool.h>

#include "sim/base/access.h"
#include "sim/machine/machine.h"
#include "sim/base/stats.h"

struct sim_naive;

struct sim_naive *sim_naive_new(const struct sim_machine *m); /* NULL: out of memory */
void sim_naive_free(struct sim_naive *s);
struct sim_sink *sim_naive_sink(struct sim_naive *s);
const struct sim_stats *sim_naive_stats(const struct sim_naive *s);
void sim_naive_clear_stats(struct sim_naive *s);
void sim_naive_clear(struct sim_naive *s);
void sim_naive_flush(struct sim_naive *s, unsigned phase);

/* Exchanges the last levels of two models of a machine. */
void sim_naive_swap_last(struct sim_naive *a, struct sim_naive *b);

/*
 * Tells whether level `outer` has every line of level `inner` (includes) or no line of level `inner` (excludes). Both
 * levels have lines of one size.
 */
bool sim_naive_includes(const struct sim_naive *s, size_t outer, size_t inner);
bool sim_naive_excludes(const struct sim_naive *s, size_t outer, size_t inner);

#endif
