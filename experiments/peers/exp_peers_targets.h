/*
 * Prints what both SConvs reached of what was aimed at, beside the paper's numbers for x86 (SConv section 7): a table
 * of a few lines over all models of a comparison.
 */
#ifndef EXPERIMENTS_EXP_PEERS_TARGETS_H
#define EXPERIMENTS_EXP_PEERS_TARGETS_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/peers/exp_peers_report.h"
#include "experiments/record/record.h"

struct exp_peers_target {
    const char *name, *unit, *core;
    double sconv, tuned;         /* NaN: not available */
    double at_least, aim, paper; /* NaN: no such number */
    bool less_is_better;
    bool is_papers; /* a target of SConv as in the paper, not of tuned SConv */
};

enum { EXP_N_PEERS_TARGETS = 12 };

/* Returns what kind of core runs micro-kernels of that instruction set here; times its ports if that does not say. */
enum exp_peers_core exp_peers_core_of(enum cpu_isa isa);
const char *exp_peers_core_name(enum exp_peers_core core);

/* Needs the sweep's times; the paper's numbers hold for its seven models. */
void exp_peers_targets(const struct exp_peers_report *r, struct exp_peers_target target[EXP_N_PEERS_TARGETS]);

void exp_peers_targets_print(const struct exp_peers_report *r, FILE *out);

/* Writes targets.csv into the report's folder. Returns 0 or -errno with one line in why. */
int exp_peers_targets_write(const struct exp_peers_report *r, const char *what, struct exp_why *why);

extern const struct rec_table exp_peers_targets_table;

#endif
