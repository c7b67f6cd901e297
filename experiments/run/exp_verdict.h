/*
 * The answer of an experiment, in sentences: whether each variant pays, against the reference, for the model and layer
 * by layer, and why. A pure function of the numbers that it is given; it knows no algorithm, and takes any number of
 * them.
 *
 * A variant pays in a layer whose measured speed-up is above 1 with its whole interval, loses where that is below 1,
 * and is open where the interval holds 1. Where nothing was timed, simulated misses speak, and the words say so.
 */
#ifndef EXPERIMENTS_EXP_VERDICT_H
#define EXPERIMENTS_EXP_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/replay/exp_estimate.h"
#include "sim/machine/machine.h"

/* Lists what is known of one layer by one variant. All of these are sums over layers as well; NaN: not known. */
enum exp_quantity {
    EXP_TIME_NS,
    EXP_STEPS_NS, /* a run step by step, in which packing (lowering too) and micro-kernels were timed */
    EXP_PACKING_NS,
    EXP_KERNEL_NS,
    EXP_SIMULATED_LOADS, /* simulated, on the machine as its file has it, and by its caches alone */
    EXP_ALONE_LOADS,
    EXP_MISSES, /* load misses of each level, the innermost first: + 0, 1, ... */
    EXP_ALONE_MISSES = EXP_MISSES + SIM_MAX_LEVELS,
    EXP_ISSUE_CYCLES = EXP_ALONE_MISSES + SIM_MAX_LEVELS, /* estimated, as if all loads hit the first level */
    EXP_WAITING_CYCLES,                                   /* estimated, as if every load waited for its level */
    EXP_N_QUANTITIES,
};

struct exp_verdict_layer {
    double quantity[EXP_N_QUANTITIES];
    struct exp_ratio speedup; /* over the reference */
};

struct exp_verdict_variant {
    const char *name, *label;        /* as in the CSV files; for people */
    const char *why_not_timed;       /* NULL: it was */
    struct exp_ratio speedup;        /* of the model, over the reference */
    struct exp_verdict_layer *layer; /* [n_layers] */
};

struct exp_verdict {
    const char *model, *machine; /* the layer table; what was simulated */
    const char *where;           /* what a speed-up holds for: "on this computer, with plans for clx4208" */
    const char *how;             /* one line: on which computer and how times were measured */
    const char *disturbance;     /* of the computer meanwhile, beginning with "quiet" or "disturbed"; NULL: not known */
    const char *why_not_timed;   /* nothing was: why; NULL */
    const char *why_no_parts;    /* the reference's packing and micro-kernels are not known: why; NULL */
    const char *why_no_check;    /* why no time is the simulated machine's, so that none confirms an estimate; NULL */
    const char *observed;        /* what observing the binaries showed, in a sentence or two; NULL or "": nothing */
    const char *estimates_elsewhere; /* what is known of the estimate's error on other machines; "" */
    const char *planned_levels;      /* which levels CSA plans for, where the machine has more; "" */
    bool has_two_views;              /* the machine is more than its caches alone */
    size_t n_levels;
    const char *level[SIM_MAX_LEVELS];
    size_t n_layers;
    const char *const *layer;
    struct exp_verdict_variant reference;
    size_t n_variants;
    struct exp_verdict_variant *variant;
};

/*
 * Prints the verdict: the answer first, then a paragraph for each variant, then, if there are at most most_rows of
 * them, a row for each layer and variant. Returns 0 or -ENOMEM.
 */
int exp_verdict_print(const struct exp_verdict *v, size_t most_rows, FILE *out);

/* Does the same for a terminal, where the sentences come last. */
int exp_verdict_print_last(const struct exp_verdict *v, size_t most_rows, FILE *out);

#endif
