/*
 * Observed streams: layers run with every memory access watched and simulated as it happens, and held against the
 * replay of the same plan.
 *
 * What runs is a small program (main_guest.c) with the project's kernels and OpenBLAS's, in one of two ways:
 *
 *   emulated  The real binary of the CPU family of the simulated machine's micro-kernel: POWER10 by qemu-ppc64le, x86
 *             with AVX2 by qemu-x86_64.
 *   twin      QEMU has no AVX-512. Kernels that need it run on this computer, compiled with the compiler's access
 *             instrumentation. OpenBLAS's are no sources of ours: with such a machine, Base is observed with OpenBLAS's
 *             Haswell kernels on the same simulated caches, and so is SConv where there is no twin, with the AVX2 one.
 *
 * A layer that is too large for the time that there is, is observed in part (kernels/plan/plan_part.h). The replay
 * beside it is of the very same plan and part, with the buffers where the program had them: what differs is the stream,
 * not the place. So replayed numbers may differ from those of layers.csv by what alignment does, and by what the part
 * leaves out.
 *
 * Observations are tasks of the results store (base/tasks.h): a second run, or another model with the same layer,
 * finds them. Which part of a layer is observed depends on the time that is left when its turn comes, so tasks are
 * made, found and kept one at a time.
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
 * A budget of time for jobs whose length is only guessed beforehand. How long a guessed second really takes is learned
 * from the jobs that have ended; a job that would not end within the budget is not to be begun. Thread-safe.
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

/* Tells whether a job of so many guessed seconds, begun now, would end in time. */
bool exp_budget_allows(struct exp_budget *b, double guessed);

/*
 * The guessed seconds that a job may take, of n_left that have not begun, itself among them, on n_threads threads: an
 * equal share of what is left, less a reserve for wrong guesses. Who asks shortest jobs first leaves what these do not
 * need to the longer ones. Infinity without a limit.
 */
double exp_budget_quota(struct exp_budget *b, size_t n_left, size_t n_threads);

/* A job of so many guessed seconds has ended, and really took so many. */
void exp_budget_learn(struct exp_budget *b, double guessed, double spent);

/*
 * Tells whether to observe kernels of a micro-kernel's family. By itself (EXP_OBSERVE_AUTO) an experiment observes
 * where no counters of this computer count the machine, and only what it can: vector kernels of x86, on x86, and of
 * POWER10.
 */
bool exp_observe_is_wanted(enum exp_observe_mode mode, const struct conv_ukr *ukr, bool is_counted);

struct exp_observation {
    char why_not[256]; /* "": observed */
    size_t same_as;    /* the case whose observation this shares; its own index if it was observed itself */
    size_t way;        /* of struct exp_observed */
    bool was_kept;     /* found in the results store */
    bool is_left_out;  /* the time was over */
    double share;      /* of the layer's multiply-adds, from 0 to 1 */
    struct watch_result *seen;
    struct sim_stats *replayed;
};

struct exp_observe_options {
    const char *observer; /* paths of the plugin, the guest program and its twin; "": there is none */
    const char *guest;
    const char *twin;
    const char *why_missing; /* why they could not be built; "" if they could */
    const char *results;     /* folder of all results */
    struct exp_store *store; /* NULL: nothing is kept */
    unsigned n_threads;
    unsigned limit_s; /* of EXP_OBSERVE_AUTO, but kept observations are always used */
};

enum { EXP_WAY_EMULATED, EXP_WAY_TWIN, EXP_N_WAYS };

/* A way to observe, and what is planned for it: the experiment's machine, kernels that can be observed so. */
struct exp_way {
    const struct exp_emulator *emulator;
    struct exp_setup setup;
};

struct exp_observed {
    struct exp_way way[EXP_N_WAYS];
    struct exp_experiment experiment;    /* each case planned for its way */
    struct exp_observation *observation; /* [experiment.n_cases]; NULL: nothing is observed */
    enum exp_observe_mode mode;
    const struct conv_ukr *unobserved_ukr; /* the machine's own, if it is not emulated; NULL */
    const char *rewritten_core;            /* OpenBLAS's, if the twin watches it; NULL */
    unsigned limit_s;                      /* 0: none */
    double spent_s;
};

/*
 * Plans what is to be observed; nothing for EXP_OBSERVE_NONE. has_twin: there is one. setup and model outlive o, which
 * stays where it is. Returns 0, -ENOMEM or -EOVERFLOW with one line in why.
 */
int exp_observe_plan(struct exp_observed *o, const struct exp_setup *setup, const struct exp_model *model,
                     unsigned algos, enum exp_observe_mode mode, bool has_twin, struct exp_why *why);

/* Returns what observing takes on a usual computer, as it is announced to exp_progress. */
double exp_observe_seconds(const struct exp_observed *o, unsigned n_threads);

/* Tells whether case i is observed at all: there are algorithms that never are (exp_algo.why_not_observed). */
bool exp_observe_is_meant(const struct exp_observed *o, size_t i);

/*
 * Observes, small layers first. A case that fails says so in why_not and, once each, through progress; the others go
 * on. Returns 0, or with one line in why -EINTR, -ENOMEM, or -errno of writing to RESULTS.
 */
int exp_observe_all(struct exp_observed *o, const struct exp_observe_options *options, struct exp_progress *progress,
                    struct exp_why *why);

/* By what a case was watched, for people. */
const char *exp_observe_source(const struct exp_observed *o, size_t index);

/* Hands the cases of the experiment what was observed of their own kernels, or the reason why nothing was. */
void exp_observe_share(const struct exp_observed *o, struct exp_experiment *e);

void exp_observe_release(struct exp_observed *o); /* one that is all zeros is fine */

/*
 * Writes what was observed, beside the replay: CSV files and a table.
 *
 *   observed.csv               one row per layer, algorithm, level, tensor and phase, and sums over tensors and phases
 *   observed_instructions.csv  instructions executed, by class
 *   observed_outside.csv       accesses outside the tensors, by the function that made them; none of them is simulated
 */

/* Writes the three files; none if nothing was to be observed. Returns 0, or -errno with one line in why. */
int exp_observe_write(const struct exp_observed *o, const struct exp_report *r, const struct exp_outdir *dir,
                      struct exp_why *why);

/*
 * The tables on the terminal: layer by layer, without what was left out, and algorithm by algorithm beside what e
 * simulated; nothing if nothing was to be observed.
 */
void exp_observe_print(const struct exp_observed *o, const struct exp_experiment *e, FILE *out);

/*
 * Says in a sentence or two how much was observed, and how far from the replay it is at most. "" if nothing was to be
 * observed.
 */
void exp_observe_sum_up(const struct exp_observed *o, char *text, size_t bytes);

/* One line: by what, and which kernels, it was observed. */
void exp_observe_describe(const struct exp_observed *o, char *text, size_t bytes);

/* The files, until table is NULL. */
struct exp_observe_file {
    const struct rec_table *table;
    const char *row; /* what one row is */
};

const struct exp_observe_file *exp_observe_files(void);

extern const struct rec_table exp_observed_table, exp_observed_instructions_table, exp_observed_outside_table;

/*
 * What an observer found (counters/watch/watch.h), as the result of a task in the results store.
 *
 * Puts all of it: "input/ukr/L1.reads" of a cell, "ukr/instructions/fma", "buffer/0/address" of tag 0's,
 * "outside/2/memcpy/stack/loads" of phase 2, "ukr/footprint". Errors are the result's own.
 */
void exp_observed_result_put(struct exp_result *to, const struct sim_machine *m, const struct watch_result *seen);

/* Reads it back. Returns 0, or -EINVAL if it holds anything else. */
int exp_observed_result_get(const struct exp_result *from, const struct sim_machine *m, struct watch_result *seen);

#endif
