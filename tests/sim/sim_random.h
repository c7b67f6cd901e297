/* Machines and what is done to them, drawn at random: what the engines and the naive model are compared on. */
#ifndef TESTS_SIM_RANDOM_H
#define TESTS_SIM_RANDOM_H

#include <stdbool.h>

#include "sim/hierarchy.h"

bool one_in(uint64_t n);

/* Returns a number of sets, a power of two in half of the cases. */
uint64_t random_sets(void);

/* Returns a machine of plain LRU levels. */
struct sim_machine random_machine(void);

/* Returns any machine that validates; most of them have several special things. */
struct sim_machine random_full_machine(void);

/* Returns a machine on which the full engine may count repeated hits in a line instead of making them. */
struct sim_machine random_counting_machine(void);

/* Returns such a machine of a few lines, whose levels push one another's lines out all the time. */
struct sim_machine random_tiny_machine(void);

/* Returns a burst that begins in a window of bytes, or at an end of the address space. */
struct sim_run random_run(const struct sim_machine *m, uint64_t window);

/* Returns a run over one of a dozen lines, and a line or two behind it. */
struct sim_run random_short_run(const struct sim_machine *m);

/* Returns the window in which lines are found again, and are not: twice the first level. */
uint64_t random_window(const struct sim_machine *m);

/* Returns one access in that window. */
struct sim_run random_access(const struct sim_machine *m);

enum { RANDOM_MAX_RECORDS = 120 };

/* Draws records that often repeat those a period before, moved on by a few bytes or not at all. Returns how many. */
size_t random_records(uint64_t *record, const struct sim_machine *m, uint64_t window, unsigned n_tags);

#endif
