/* The course of a program: it reads its options, does what they ask for, and ends. */
#ifndef EXPERIMENTS_EXP_MAIN_H
#define EXPERIMENTS_EXP_MAIN_H

#include "experiments/setup/exp_options.h"

struct exp_main {
    enum exp_program program;
    struct exp_options *options;
    void (*document)(FILE *out);    /* prints what its files' columns mean */
    int (*run)(void *session);      /* returns 0 or -errno with one line in why */
    void (*release)(void *session); /* after whatever happened */
    void *session;
    char *why;
    size_t why_bytes;
};

/* Returns the exit status. */
int exp_main(const struct exp_main *m, int argc, char **argv);

#endif
