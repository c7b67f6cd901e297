/*
 * Observed streams: layers run with every memory access watched and simulated at once, and compared with the replay of
 * an equal plan.
 *
 * A small program (main_guest.c) with the project's kernels and OpenBLAS's runs in one of two ways:
 *
 *   emulated  The real binary of the CPU family of the simulated machine's micro-kernel: POWER10 by qemu-ppc64le, x86
 *             with AVX2 by qemu-x86_64.
 *   twin      QEMU has no AVX-512. Kernels that need AVX-512 run on this computer, compiled with the compiler's access
 *             instrumentation. OpenBLAS's kernels are no sources of this project: with an AVX-512 machine, Base is
 *             observed with OpenBLAS's Haswell kernels on the simulated caches, and so is SConv without a twin, with
 *             the AVX2 micro-kernel.
 *
 * A layer too large for the time left is observed in part (kernels/plan/plan_part.h). The replay beside the observation
 * has an equal plan, an equal part, and the program's addresses of buffers: a difference is in the stream, not in the
 * place. So replayed numbers may differ from layers.csv by alignment, and by the work that the part leaves out.
 *
 * Observations are tasks of the results store (base/tasks.h): a second run, or another model with an equal layer, finds
 * the observation. The observed part of a layer depends on the time left when its turn comes, so tasks are made, found
 * and kept one at a time.
 */
#ifndef EXPERIMENTS_OBSERVE_OBSERVE_H
#define EXPERIMENTS_OBSERVE_OBSERVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "counters/watch/watch.h"
#include "experiments/base/progress.h"
#include "experiments/base/record.h"
#include "experiments/base/store.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/observe/guest.h"
#include "experiments/show/report.h"

/*
 * A budget of time for jobs of guessed length. The budget learns the real length of a guessed second from finished
 * jobs; a job that would not end within the budget must not begin. Thread-safe.
 */

struct exp_budget {
    pthread_mutex_t lock;
    uint64_t (*now_ns)(void);
    uint64_t start_ns;
    unsigned limit_s; /* 0: none */
    double guessed, spent;
};

/* Starts the clock. */
void exp_budget_init(struct exp_budget *b, unsigned limit_s, uint64_t (*now_ns)(void));
void exp_budget_release(struct exp_budget *b);

double exp_budget_spent(const struct exp_budget *b); /* seconds since the start */
double exp_budget_left(const struct exp_budget *b);  /* infinity without a limit; never negative */

/* Tells whether a job of `guessed` seconds, begun now, would end in time. */
bool exp_budget_allows(struct exp_budget *b, double guessed);

/*
 * Returns the guessed seconds that a job may take, of n_left jobs that have not begun (itself included), on n_threads
 * threads: an equal share of the time left, less a reserve for wrong guesses. Shortest jobs first leave unused time to
 * longer jobs. Infinity without a limit.
 */
double exp_budget_quota(struct exp_budget *b, size_t n_left, size_t n_threads);

/* Notes a finished job: the guessed and the real seconds. */
void exp_budget_learn(struct exp_budget *b, double guessed, double spent);

/*
 * Tells whether to observe kernels of a micro-kernel's family. By default (EXP_OBSERVE_AUTO) an experiment observes if
 * no counters of this computer count the machine, and only observable kernels: vector kernels of x86, on x86, and of
 * POWER10.
 */
bool exp_observe_is_wanted(enum exp_observe_mode mode, const struct conv_ukr *ukr, bool is_counted);

struct exp_observation {
    char why[256];    /* "": observed */
    size_t same_as;   /* the case whose observation is shared; its own index if observed itself */
    size_t way;       /* of struct exp_observed */
    bool was_kept;    /* found in the results store */
    bool is_left_out; /* the time was over */
    double share;     /* of the layer's multiply-adds, from 0 to 1 */
    struct watch_result *seen;
    struct sim_stats *replayed;
};

struct exp_observe_options {
    const char *observer; /* paths of the plugin, the guest program and its twin; "": no file */
    const char *guest;
    const char *twin;
    const char *why_missing; /* why there is no file; "": all were built */
    const char *results;     /* folder of all results */
    struct exp_store *store; /* NULL: nothing is kept */
    unsigned n_threads;
    unsigned limit_s; /* of EXP_OBSERVE_AUTO, but kept observations are always used */
};

enum { EXP_WAY_EMULATED, EXP_WAY_TWIN, EXP_N_WAYS };

/* A way to observe, with the plan's setup: the experiment's machine, and kernels observable this way. */
struct exp_way {
    const struct exp_emulator *emulator;
    struct exp_setup setup;
};

struct exp_observed {
    struct exp_way way[EXP_N_WAYS];
    struct exp_experiment experiment;    /* each case planned for its way */
    struct exp_observation *observation; /* [experiment.n_cases]; NULL: nothing is observed */
    enum exp_observe_mode mode;
    const struct conv_ukr *unobserved_ukr; /* the machine's own, if not emulated; NULL */
    const char *rewritten_core;            /* OpenBLAS's, if the twin watches it; NULL */
    unsigned limit_s;                      /* 0: none */
    double spent_s;
};

/*
 * Plans the observations; none for EXP_OBSERVE_NONE. has_twin: there is a twin. setup and model must outlive o, and o
 * must stay at its address. Returns 0, -ENOMEM or -EOVERFLOW with one line in why.
 */
int exp_observe_plan(struct exp_observed *o, const struct exp_setup *setup, const struct exp_model *model,
                     unsigned algos, enum exp_observe_mode mode, bool has_twin, struct exp_why *why);

/* Returns the seconds of observing on a usual computer, for exp_progress. */
double exp_observe_seconds(const struct exp_observed *o, unsigned n_threads);

/* Tells whether case i is observed at all: some algorithms never are (exp_algo.why_not_observed). */
bool exp_observe_is_meant(const struct exp_observed *o, size_t i);

/*
 * Observes, small layers first. A failed case has a reason in why, which progress prints once; the run continues.
 * Returns 0, or with one line in why -EINTR, -ENOMEM, or -errno of writing to RESULTS.
 */
int exp_observe_all(struct exp_observed *o, const struct exp_observe_options *options, struct exp_progress *progress,
                    struct exp_why *why);

/* Returns the observer of a case, for people. */
const char *exp_observe_source(const struct exp_observed *o, size_t index);

/* Gives the experiment's cases the observations of their own kernels, or the reasons for missing observations. */
void exp_observe_share(const struct exp_observed *o, struct exp_experiment *e);

void exp_observe_release(struct exp_observed *o); /* a zeroed struct is fine */

/*
 * Writes observations beside the replay: CSV files and a table.
 *
 *   observed.csv               one row per layer, algorithm, level, tensor and phase, and sums over tensors and phases
 *   observed_instructions.csv  instructions executed, by class
 *   observed_outside.csv       accesses outside the tensors, by function; not simulated
 */

/* Writes the three files; no file if nothing was to be observed. Returns 0, or -errno with one line in why. */
int exp_observe_write(const struct exp_observed *o, const struct exp_report *r, const struct exp_outdir *dir,
                      struct exp_why *why);

/*
 * Prints the tables on the terminal: layer by layer, without left-out layers, and algorithm by algorithm beside e's
 * simulated numbers; nothing if nothing was to be observed.
 */
void exp_observe_print(const struct exp_observed *o, const struct exp_experiment *e, FILE *out);

/*
 * Says in a sentence or two how much was observed, and the largest distance from the replay. "" if nothing was to be
 * observed.
 */
void exp_observe_sum_up(const struct exp_observed *o, char *text, size_t bytes);

/*
 * Counts the observed cases, and the cases whose loads and load misses of every level equal the replay's. A case with an
 * equal case before it is not counted. n_noted: unequal cases with a reason in their note.
 */
struct exp_observe_agreement {
    size_t n_observed, n_equal, n_noted;
};

struct exp_observe_agreement exp_observe_agreement(const struct exp_observed *o);

/* Says in one line the observer and the observed kernels. */
void exp_observe_describe(const struct exp_observed *o, char *text, size_t bytes);

/* The files, until table is NULL. */
struct exp_observe_file {
    const struct rec_table *table;
    const char *row; /* what one row is */
};

const struct exp_observe_file *exp_observe_files(void);

extern const struct rec_table exp_observed_table, exp_observed_instructions_table, exp_observed_outside_table;

/*
 * An observer's findings (counters/watch/watch.h), as the result of a task in the results store.
 *
 * Puts all findings: "input/ukr/L1.reads" of a cell, "ukr/instructions/fma", "buffer/0/address" of tag 0,
 * "outside/2/memcpy/stack/loads" of phase 2, "ukr/footprint". Errors are the result's own.
 */
void exp_observed_result_put(struct exp_result *to, const struct sim_machine *m, const struct watch_result *seen);

/* Reads the findings back. Returns 0, or -EINVAL for anything else. */
int exp_observed_result_get(const struct exp_result *from, const struct sim_machine *m, struct watch_result *seen);

#endif
