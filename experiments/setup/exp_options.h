/* What the user asked for: the command lines of the programs, which the Makefile fills from its variables. */
#ifndef EXPERIMENTS_EXP_OPTIONS_H
#define EXPERIMENTS_EXP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/exp_bench.h"
#include "experiments/base/exp_error.h"

enum exp_program {
    EXP_EXPERIMENT,
    EXP_JUDGE,
    EXP_PEERS,
    EXP_VALIDATE,
    EXP_CALIBRATE,
    EXP_PAPER,
    EXP_STUDY,
    EXP_REDRAW,
    EXP_REPORT,
    EXP_COMPARE,
    EXP_SWEEP,
    EXP_POLYDL,
    EXP_PLAN,
    EXP_GEN,
    EXP_STREAMS,
    EXP_N_PROGRAMS
};

enum exp_clock { EXP_CLOCK_CPU, EXP_CLOCK_WALL }; /* the thread's own time, or everybody's */

/* Which layers run under emulation (exp_observe.h). */
enum exp_observe_mode {
    EXP_OBSERVE_NONE,
    EXP_OBSERVE_SAMPLE, /* layers of equal shape share one observation */
    EXP_OBSERVE_ALL,
    EXP_OBSERVE_AUTO, /* as sample, where no counters count the machine, and within a limit of time */
};

/* STORE= says so: nothing is kept. */
#define EXP_STORE_NONE "no"

/* Why there are no times where TIMING=0 says so. */
#define EXP_UNTIMED "TIMING=0 was asked for"

/* Who runs the simulations of a sweep: this program, or jobs of a cluster. */
enum exp_launcher { EXP_LAUNCH_HERE, EXP_LAUNCH_SLURM };

/* What is measured on this computer is fitted, recorded patterns are not. */
enum { EXP_FIT_AUTO = 99 };

/* Fields of options that a program does not know have their default. */
/* Forms of generated code, as EMIT names them: enum exp_emit_what (exp_emit_text.h). */
#define EXP_EMIT_NAMES "c", "mlir", "mlir_external", "mlir_linalg"

struct exp_options {
    char *const *argv;         /* what it was read from */
    const char *model;         /* name or path of a table; judge, peers, validate: several, comma-separated, or all */
    const char *machine;       /* host, a name in sim/machines, or a path; validate: "" = what the counts say */
    const char *algos;         /* comma-separated, "" = default */
    const char *layers;        /* comma-separated patterns, "" = all */
    const char *ukr;           /* "" = the machine's, else the best here */
    const char *core;          /* OpenBLAS core to replay, "" = the machine's, else the one in use */
    const char *results;       /* folder of all results */
    const char *counts;        /* folder of recorded counts */
    const char *patterns;      /* file of recorded patterns; "": the machine's, of the host: to be measured */
    const char *out;           /* where what is made is written to; "": standard output, or nowhere else */
    const char *layer;         /* one layer, by a descriptor or as model:layer; "": as model and layers say */
    const char *plan;          /* file of plans; "": none */
    const char *set;           /* decisions in place of CSA's; "": none */
    const char *wisdom;        /* file of plans that were found by timing; "": none */
    const char *weights;       /* file of a layer's filters; "": none */
    unsigned time;             /* rounds; 0: none */
    unsigned emit;             /* enum exp_emit_what (exp_emit_text.h) */
    unsigned fuse;             /* activation, and 3 more with a bias: enum conv_activation */
    unsigned check;            /* 0 or 1: generated code is compiled and run */
    const char *run_a, *run_b; /* folders of results that are compared */
    const char *fail_if;       /* conditions on what differs; "" = none */
    const char *commit;
    const char *vary;     /* sweep: keys and values */
    const char *variants; /* polydl: which; "": as the paper */
    const char *store;    /* file of results that are kept; "": in the folder of results; "no": none is */
    const char *share;    /* sweep: "2/8": the third of eight shares; "": everything */
    const char *known;    /* sweep: a store to take results from; "": none */
    const char *slurm;    /* sweep: more words for sbatch */
    const char *observer; /* the plugin, the guest program of observed streams and its twin: paths */
    const char *guest;
    const char *twin;
    const char *why_no_guest; /* why they could not be built; "" if they could */
    unsigned reps;            /* rounds; 0: until the speed-ups stand */
    unsigned limit;           /* seconds */
    unsigned observe_limit;   /* seconds */
    unsigned ruler;           /* 1: a ruler stands beside each timing; 0: none */
    unsigned hot_reps;        /* with hot caches; 0: none */
    unsigned clock;           /* enum exp_clock */
    unsigned jobs;            /* threads, >= 1 */
    unsigned timing;          /* 0 or 1 */
    unsigned cache;           /* enum exp_cache_state */
    unsigned packs_filters;   /* 0 or 1 */
    unsigned measures;        /* 1: tuned plans are found by timing */
    unsigned classes;         /* 0: all levels' misses are classified; 1: those for which the machine file says so */
    unsigned observe;         /* enum exp_observe_mode */
    unsigned sample;          /* layers of the parts that take long; 0: all */
    unsigned fit;             /* sweeps of a fit, EXP_FIT_AUTO: by itself */
    unsigned hides_rows;      /* 0 or 1 */
    unsigned launcher;        /* enum exp_launcher */
    unsigned shares;          /* jobs of the launcher */
    unsigned threads;         /* polydl: up to so many are timed */
    unsigned budget;          /* polydl: milliseconds of timing for each variant */
    unsigned refine;          /* polydl: the same for the leading variants of a layer, times the number of variants */
    unsigned batch;           /* polydl: images of fused operators */
    bool asks_guest;          /* print the CPU family of the guest that is needed, and stop */
    unsigned format;          /* of plans; 0: text, 1: JSON */
    bool is_json;             /* the same as format 1 */
    bool describes;           /* print the schema and stop */
    bool documents;           /* print the columns and stop */
    bool helps;               /* print the usage and stop */
};

/*
 * Reads argv; MACHINE=host may be written as --machine=host or --machine host, too. An empty variable ("NAME=") stands for the default, the last of a name counts. Returns 0, or -EINVAL with
 * one line in why. Strings point into argv.
 */
int exp_options_parse(struct exp_options *o, enum exp_program program, int argc, char **argv, struct exp_why *why);

/* A file or folder that the user named, or a list of names some of which may be paths. */
struct exp_options_path {
    const char *name, *value;
    bool are_names;
};

/*
 * Finds the next such option from number *at on, 0 at first, and the folder of results in any case. Paths that are
 * defaults are not the user's. Returns false behind the last.
 */
bool exp_options_next_path(const struct exp_options *o, enum exp_program program, size_t *at,
                           struct exp_options_path *path);

/* Reads the clock that was asked for, and what it is called. */
uint64_t (*exp_options_clock(const struct exp_options *o))(void);
const char *exp_options_clock_name(const struct exp_options *o);

/* Returns how long disturbed timings may be taken again: LIMIT, whatever REPS says; 0 with RULER=0. */
uint64_t exp_options_ruler_ns(const struct exp_options *o);

/* Returns how many rounds were asked for. */
struct exp_rounds exp_options_rounds(const struct exp_options *o, enum exp_program program);

void exp_options_usage(enum exp_program program, FILE *out);

const char *exp_options_program(enum exp_program program); /* its name */

#endif
