/*
 * Recorded stacks: the observed accesses of compiled code to its stack, for each algorithm and micro-kernel
 * (kernels/backend/stack.h). `make stack` writes a table for the present code, experiments/stack/<CPU
 * family>-<compiler>.csv; a folder of recorded counts has a table of the counted code.
 *
 * A row is the cost of one unit of a kind of work in a phase: algo, micro_kernel, phase, lines, work, loads, stores,
 * instructions, branches. lines is equal in all rows of a phase. Instructions and branches may be missing: nobody
 * counted them.
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

enum { EXP_STACK_TABLES = 2 }; /* x86's code has a table with AVX-512, and a table without */

struct exp_stacks {
    size_t n_tables, n;
    struct exp_table table[EXP_STACK_TABLES]; /* the names point into the tables */
    struct exp_stack_record *record;
};

/* Returns the path of this build's table for a CPU family with the instructions, from malloc. */
char *exp_stacks_path(enum cpu_isa isa);

/* Returns the path of the table to replay: of the build, if `make stack` wrote the table; else of gcc 12. */
char *exp_stacks_known_path(enum cpu_isa isa);

/*
 * Adds a table; *s starts empty, all zeros. Returns 0; -errno of reading the file; -EINVAL for a malformed table. On
 * failure *s is empty.
 */
int exp_stacks_read(struct exp_stacks *s, const char *path, struct exp_why *why);
void exp_stacks_release(struct exp_stacks *s); /* an empty struct is fine */

/* Forgets the accesses to the stack. The clock goes on using the records: the work of compiled code. */
void exp_stacks_keep_work(struct exp_stacks *s);

/* Tells whether any code of an algorithm is on record. */
bool exp_stacks_have(const struct exp_stacks *s, const char *algo);

/* Returns the stack of the plan's code; a plan of a file has the stack of an equal algorithm. NULL: not on record. */
const struct conv_stack *exp_stacks_find(const struct exp_stacks *s, const char *algo, const struct conv_plan *plan);

/* The name of a plan's micro-kernel or direct kernel. */
const char *exp_stack_kernel(const struct conv_plan *plan);

/* Write the table's header and the rows of a record, as exp_stacks_read reads them. */
void exp_stack_print_header(FILE *out);
void exp_stack_print(const struct exp_stack_record *r, FILE *out);

#endif
