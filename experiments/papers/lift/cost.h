/*
 * What machine code costs where everything it loads is at hand: cycles of each basic block, by what a core can issue
 * and by the chains of results that wait for each other. Nothing is timed: the model reads assembly.
 *
 * A block's cycles are the largest of
 *
 *   units     how often the block uses a unit, by how often the core has it in a cycle; front end included
 *   chain     for a block that jumps to its own beginning: by how much a pass begins later than the one before because
 *             a result is needed (accumulators; also through the stack, where registers were spilled)
 *
 * A program's cycles are the sum over its blocks, each as often as it was run: the same text with code that counts,
 * which changes no register and no flag. Where a core's window holds several work-items, their chains run beside each
 * other.
 */
#ifndef EXPERIMENTS_PAPERS_LIFT_COST_H
#define EXPERIMENTS_PAPERS_LIFT_COST_H

#include "experiments/base/error.h"
#include "sim/machine/machine.h"

enum lift_unit {
    LIFT_MULTIPLIES, /* also multiply-adds */
    LIFT_ADDS,
    LIFT_SHUFFLES,
    LIFT_LOADS,
    LIFT_STORES,
    LIFT_SCALARS, /* addresses, counts */
    LIFT_BRANCHES,
    LIFT_ISSUES, /* any operation */
    LIFT_N_UNITS
};

/* How often a cycle has each unit, how long loads take, and what is peculiar. */
struct lift_core {
    double per_cycle[LIFT_N_UNITS];
    double gather_shuffles;                                 /* of each element that a gather loads */
    double window;                                          /* operations that are under way at once */
    double load_cycles, vector_load_cycles, forward_cycles; /* forwarded: from a store to the load of the same place */
};

/*
 * What the machine file states of the core. The rest is an AMD Zen 3's, by its optimization guide (publication 56665);
 * gathers and the window of Intel's are Golden Cove's, by Intel's optimization manual.
 */
struct lift_core lift_core_of(const struct sim_machine *m);

struct lift_block {
    double uses[LIFT_N_UNITS];
    double unit_cycles, chain_cycles, cycles;
};

struct lift_code {
    char *counted; /* the assembly with code that counts in lift_block_count[] */
    struct lift_block *block;
    size_t n;
};

/*
 * Reads assembly that clang or gcc wrote for x86-64 (AT&T syntax). Returns 0, or -ENOTSUP with one line in why for code
 * of another processor.
 */
int lift_code_read(struct lift_code *code, const char *assembly, const struct lift_core *core, struct exp_why *why);
void lift_code_release(struct lift_code *code); /* leaves { 0 } */

/* Returns the cycles of n work-items that ran the blocks so often: count[code->n]. */
double lift_code_cycles(const struct lift_code *code, const struct lift_core *core, const uint64_t *count, size_t n);

/* The name of the array that the counted assembly defines: uint64_t[code.n]. */
#define LIFT_BLOCK_COUNTS "lift_block_count"

#endif
