/* Internal: the checks of sim_machine_validate(), for callers that can name the place in a file. */
#ifndef SIM_MACHINE_CHECK_H
#define SIM_MACHINE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/machine/machine.h"

struct sim_fault {
    const char *what; /* NULL: nothing is wrong */
    const char *key;  /* the faulty key in a [cache NAME] section; "sets" also if the file has a size */
};

/* Finds a fault of m->level[k]: by itself, with the page size, or with the levels inside, which have no fault. */
struct sim_fault sim_level_fault(const struct sim_machine *m, size_t k);

/* Finds a fault of m->core, if the core is known; the key is a key of [core]. */
struct sim_fault sim_core_fault(const struct sim_machine *m);

/*
 * Finds a fault of a machine beside its levels: memory, the core, pages and TLBs. The key is in [machine], [core] or
 * [tlb NAME].
 */
struct sim_fault sim_machine_fault(const struct sim_machine *m);

/* Tells whether memory is said to bring more than the last level waits for at once. */
bool sim_memory_is_too_fast(const struct sim_machine *m);

/*
 * Returns the first level, or n_levels for memory, that answers sooner than the level inside; 0: none, or the core is
 * unknown, because only the core's clock adds up latencies.
 */
size_t sim_impatient_level(const struct sim_machine *m);

/* Tells whether the entries of t are a multiple of its ways, and not too many. */
bool sim_tlb_is_possible(const struct sim_tlb *t);

#endif
