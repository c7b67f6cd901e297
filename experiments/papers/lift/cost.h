/*
 * The machine code of a text: the work of each basic block, and the code with added instructions. The added
 * instructions count how often each block runs and record accesses; they change no register and no flag.
 */
#ifndef EXPERIMENTS_PAPERS_LIFT_COST_H
#define EXPERIMENTS_PAPERS_LIFT_COST_H

#include "experiments/base/error.h"
#include "sim/core/clock.h"

struct lift_code {
    char *counted;          /* the assembly with the added instructions */
    struct sim_work *block; /* [n] the work of one run of each block */
    size_t n;
};

/*
 * Reads assembly that clang or gcc wrote for x86-64 (AT&T syntax). Returns 0, or -ENOTSUP with a line in why for code
 * of another processor.
 */
int lift_code_read(struct lift_code *code, const char *assembly, struct exp_why *why);
void lift_code_release(struct lift_code *code); /* leaves { 0 } */

/* Adds the work of all blocks; block i ran count[i] times: count[code->n]. */
void lift_code_add(const struct lift_code *code, const uint64_t *count, struct sim_work *w);

/* The name of the array in the counted assembly: uint64_t[code.n]. */
#define LIFT_BLOCK_COUNTS "lift_block_count"

#endif
