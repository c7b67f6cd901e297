/*
 * The toy machine, set up, and an experiment of three layers on the machine. Tests are skipped if the files are
 * missing.
 */
#ifndef TESTS_EXPERIMENTS_TOY_H
#define TESTS_EXPERIMENTS_TOY_H

#include <stdbool.h>
#include <stdio.h>

#include "experiments/base/progress.h"
#include "experiments/bench/case/case.h"

/*
 * Reads the machine. Returns false, and the test is skipped, if the tests were not started from the top of the
 * repository.
 */
bool toy_machine(struct sim_machine *m);

/* Sets up for the machine, with the micro-kernel UKR=ukr and the OpenBLAS core CORE=core. Returns as toy_machine. */
bool toy_setup(struct exp_setup *s, const char *ukr, const char *core);

/* The layers of tests/data/three.csv, planned for plain C by the default algorithms. */
struct toy {
    struct exp_setup setup;
    struct exp_model model;
    struct exp_experiment experiment;
    struct exp_progress *progress; /* goes to log */
    FILE *log;
};

/* Plans the experiment; misses are classified, or not. Returns as toy_machine. Closing takes the opened experiment. */
bool toy_open(struct toy *t, bool classifies);
void toy_close(struct toy *t);

#endif
