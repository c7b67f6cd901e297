/* Internal: what sim_machine_validate() holds against a machine, for those who can name the place in a file. */
#ifndef SIM_MACHINE_CHECK_H
#define SIM_MACHINE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/machine/machine.h"

struct sim_fault {
    const char *what; /* NULL: nothing is wrong */
    const char *key;  /* the one to blame in a [cache NAME] section; "sets" also where size stands for it */
};

/* Finds what m->level[k] cannot be: because of itself, the page size and the levels inside it, which have no fault. */
struct sim_fault sim_level_fault(const struct sim_machine *m, size_t k);

/* Finds what m->core cannot be, if anything is known of it; the key is one of [core]. */
struct sim_fault sim_core_fault(const struct sim_machine *m);

/*
 * Finds what is wrong with a machine beside its levels: memory, the core, pages and TLBs. The key is in [machine],
 * [core] or [tlb NAME].
 */
struct sim_fault sim_machine_fault(const struct sim_machine *m);

/* Tells whether memory is said to bring more than the last level waits for at once. */
bool sim_memory_is_too_fast(const struct sim_machine *m);

/*
 * Returns the first level, or how many there are for memory, that is said to answer sooner than the level inside it;
 * 0: none, or nothing is known of the core, whose clock alone adds up latencies.
 */
size_t sim_impatient_level(const struct sim_machine *m);

/* Tells whether the entries of t are a multiple of its ways, and not too many. */
bool sim_tlb_is_possible(const struct sim_tlb *t);

#endif
