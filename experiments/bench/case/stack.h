/*
 * Recorded stacks: what compiled code of each algorithm and micro-kernel does on its stack (kernels/backend/stack.h),
 * as it was observed. `make stack` writes such a table for the code of today, experiments/stack/<CPU
 * family>-<compiler>.csv; a folder of recorded counts has one of the code that was counted.
 *
 * A row is what one unit of a kind of work costs in a phase: algo, micro_kernel, phase, lines, work, loads, stores,
 * instructions, branches. lines is the same in all rows of a phase. The last two may be missing: nobody counted them.
 */
#ifndef EXPERIMENTS_BENCH_CASE_STACK_H
#define EXPERIMENTS_BENCH_CASE_STACK_H

#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/csv.h"
#include "kernels/backend/stack.h"

struct exp_stack_record {
    const char *algo, *ukr;
    struct conv_stack stack;
};

enum { EXP_STACK_TABLES = 2 }; /* x86's code has one with AVX-512, and one without */

struct exp_stacks {
    size_t n_tables, n;
    struct exp_table table[EXP_STACK_TABLES]; /* which the names are of */
    struct exp_stack_record *record;
};

/* The table for this build's code of a CPU family with these instructions, from malloc. */
char *exp_stacks_path(enum cpu_isa isa);

/*
 * Adds a table; *s starts empty, all zeros. Returns 0; -errno of reading the file; -EINVAL for what is malformed. On
 * failure *s is empty.
 */
int exp_stacks_read(struct exp_stacks *s, const char *path, struct exp_why *why);
void exp_stacks_release(struct exp_stacks *s); /* an empty one is fine */

/* Tells whether any code of an algorithm is on record. */
bool exp_stacks_have(const struct exp_stacks *s, const char *algo);

/* Returns what the plan's code does, of one out of a file that of the algorithm that plans alike; NULL: not on record. */
const struct conv_stack *exp_stacks_find(const struct exp_stacks *s, const char *algo, const struct conv_plan *plan);

/* The name of a plan's micro-kernel or direct kernel. */
const char *exp_stack_kernel(const struct conv_plan *plan);

/* Writes the table's header and the rows of a record, in the form that is read. */
void exp_stack_print_header(FILE *out);
void exp_stack_print(const struct exp_stack_record *r, FILE *out);

#endif
