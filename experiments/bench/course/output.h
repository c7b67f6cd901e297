/*
 * The output of a question with a screen: standard output goes to a file in memory while the question works, and the
 * file becomes output.txt beside the tables. The user sees the screen, and MORE=1 shows the output at once instead.
 */
#ifndef EXPERIMENTS_BENCH_COURSE_OUTPUT_H
#define EXPERIMENTS_BENCH_COURSE_OUTPUT_H

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"

#define EXP_OUTPUT_FILE "output.txt"

struct exp_output {
    int own;  /* a copy of the descriptor of standard output; -1: nothing is diverted */
    int file; /* the descriptor of the file */
};

/* Begins to divert standard output. Returns 0, or -errno with one line in why. */
int exp_output_divert(struct exp_output *o, struct exp_why *why);

/* Writes the diverted output so far into a file of dir. Returns 0, or -errno with one line in why. */
int exp_output_write(const struct exp_output *o, const struct exp_outdir *dir, struct exp_why *why);

/* Ends the diversion; without a diversion, nothing happens. */
void exp_output_restore(struct exp_output *o);

#endif
