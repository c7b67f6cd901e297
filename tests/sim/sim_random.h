/* Random machines and random actions on machines, by which the engines and the naive model are compared. */
#ifndef TESTS_SIM_RANDOM_H
#define TESTS_SIM_RANDOM_H

#include <stdbool.h>

#include "sim/hierarchy.h"

bool one_in(uint64_t n);

/* Returns a number of sets, a power of two in half of the cases. */
uint64_t random_sets(void);

/* Returns a machine of plain LRU levels. */
struct sim_machine random_machine(void);

/* Returns any valid machine; most have several special features. */
struct sim_machine random_full_machine(void);

/* Returns a machine on which the full engine may count repeated hits in a line instead of simulating each hit. */
struct sim_machine random_counting_machine(void);

/* Returns a counting machine of a few lines, whose levels push lines out of each other all the time. */
struct sim_machine random_tiny_machine(void);

/* Returns a burst that begins in a window of bytes, or at an end of the address space. */
struct sim_run random_run(const struct sim_machine *m, uint64_t window);

/* Returns a run over one of a dozen lines, and a line or two behind. */
struct sim_run random_short_run(const struct sim_machine *m);

/* Returns a window in which some lines are found again and some are not: twice the first level. */
uint64_t random_window(const struct sim_machine *m);

/* Returns a single access in the window of random_window. */
struct sim_run random_access(const struct sim_machine *m);

enum { RANDOM_MAX_RECORDS = 120 };

/*
 * Draws records that often repeat the records of a period before, moved on by a few bytes or not at all. Returns the
 * number.
 */
size_t random_records(uint64_t *record, const struct sim_machine *m, uint64_t window, unsigned n_tags);

/*
 * Checks that the counts of a machine, and of its naive model, are equal in each of n_tags tags and each prefetcher. A
 * failure names the round, the step and the first difference.
 */
bool same_stats(const struct sim_stats *a, const struct sim_stats *b, unsigned n_tags, unsigned round, unsigned step);

#endif
