/* The toy machine, set up, and an experiment of three layers on it. Where the files are not there, tests are skipped. */
#ifndef TESTS_EXPERIMENTS_TOY_H
#define TESTS_EXPERIMENTS_TOY_H

#include <stdbool.h>
#include <stdio.h>

#include "experiments/base/progress.h"
#include "experiments/bench/case/case.h"

/* Reads the machine. Returns false, and the test is skipped, if it was not started from the top of the repository. */
bool toy_machine(struct sim_machine *m);

/* Sets up for the machine, with a micro-kernel and an OpenBLAS core as UKR= and CORE= name them. Returns likewise. */
bool toy_setup(struct exp_setup *s, const char *ukr, const char *core);

/* The layers of tests/data/three.csv, planned for plain C by the default algorithms. */
struct toy {
    struct exp_setup setup;
    struct exp_model model;
    struct exp_experiment experiment;
    struct exp_progress *progress; /* goes to log */
    FILE *log;
};

/* Plans them; misses are classified, or not. Returns likewise. Closing takes what was opened. */
bool toy_open(struct toy *t, bool classifies);
void toy_close(struct toy *t);

#endif
