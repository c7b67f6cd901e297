/*
 * One experiment: a model on a machine, layer by layer and algorithm by algorithm. The cases are planned once; then
 * verified and measured (measure.h), replayed (replay.h) and reported (show/report.h).
 */
#ifndef EXPERIMENTS_BENCH_CASE_CASE_H
#define EXPERIMENTS_BENCH_CASE_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "experiments/base/stats.h"
#include "experiments/base/value.h"
#include "experiments/bench/case/algo.h"
#include "experiments/bench/case/elements.h"
#include "experiments/bench/model/model.h"
#include "kernels/backend/backend.h"
#include "kernels/backend/base.h"
#include "kernels/plan/plan.h"
#include "sim/base/stats.h"
#include "sim/core/clock.h"

/*
 * The phases of one convolution's time: a back-end that executes and adds up the time per kind of step. The clock is
 * read only where the kind changes, so a row of micro-kernels costs two readings; the nest's own time counts as time of
 * its step.
 */

struct exp_phases {
    uint64_t step_ns[CONV_N_STEP_KINDS];
    uint64_t total_ns; /* time of no kind is the start and the end */
    const char *why;   /* NULL: known; else the reason why the times are missing, owned as exp_measured.why */
};

uint64_t
exp_phases_packing_ns(const struct exp_phases *x); /* windows, filters, OpenBLAS's copies of the matrix, transforms */
uint64_t exp_phases_kernel_ns(const struct exp_phases *x); /* micro-kernels and direct kernels */
uint64_t exp_phases_other_ns(const struct exp_phases *x);  /* without im2col, packing and kernels */

/* Runs a plan's nest. Returns the nest's result. */
int exp_phases_run(const struct conv_plan *plan, const struct conv_binding *bind, uint64_t (*now_ns)(void),
                   struct exp_phases *phases);

/*
 * Finds the routines of the baseline's steps. The routines are known only where the blocking of the running core is on
 * record. Returns 0, or -ENOENT with one line in why.
 */
int exp_phases_find_parts(struct conv_blas_parts *parts, const struct exp_setup *s, struct exp_why *why);

/* Runs the baseline step by step with OpenBLAS's own routines; plan as for conv_blas_exec. */
int exp_phases_run_base(const struct conv_plan *plan, const struct conv_binding *bind,
                        const struct conv_blas_parts *parts, uint64_t (*now_ns)(void), struct exp_phases *phases);

/*
 * The tensors of one case in memory: the arena of the plan's layout, filled with reproducible values.
 *
 * Values are small integers, so every sum of products is exact in float, and results can be compared for equality (for
 * short reductions: exp_tensors_exact).
 */

struct exp_tensors {
    void *arena;
    struct conv_binding bind;
};

/*
 * Allocates, touches every page, fills input and filter, and packs the filters if the plan packs ahead of time. Returns
 * 0 or -ENOMEM.
 */
int exp_tensors_init(struct exp_tensors *t, const struct conv_plan *plan);
void exp_tensors_release(struct exp_tensors *t);

/* The seeds of exp_tensors_init. */
enum { EXP_TENSORS_INPUT_SEED = 1, EXP_TENSORS_FILTER_SEED = 2 };

/*
 * Counts that are kept, by metric name: the CACHE and SOFTWARE event groups, which are reported; and the common
 * quantities of group COMMON, quantity q (ctr_quantity.h) as EXP_COMMON + q.
 */
enum { EXP_MAX_QUANTITIES = 16 }; /* at least ctr_n_quantities() */

enum exp_count {
    EXP_LOADS,
    EXP_L1_LOAD_MISSES,
    EXP_L2_LOAD_MISSES,
    EXP_L3_LOAD_MISSES,
    EXP_INSTRUCTIONS,
    EXP_CYCLES,
    EXP_PAGE_FAULTS,
    EXP_COMMON,
    EXP_N_COUNTS = EXP_COMMON + EXP_MAX_QUANTITIES,
};

const char *exp_count_name(enum exp_count c);

/* The contents of the caches when a layer starts. */
enum exp_cache_state {
    EXP_COLD,    /* nothing */
    EXP_WARM,    /* left by the algorithm's run on these tensors */
    EXP_NETWORK, /* left by the layer before: replayed in network order; timed when emptied, with the input written */
};

const char *exp_cache_state_name(enum exp_cache_state s);

struct exp_measured {
    const char *why;       /* NULL: timed; else a reason owned by somebody who outlives the struct */
    uint64_t *sample_ns;   /* [n_samples], in the order of the rounds; one number for all algorithms of a layer */
    struct exp_mark *mark; /* [n_samples] the ruler's readings beside the samples */
    size_t n_samples;
    double slowed; /* the ruler's slow-down, as a share, beside the fastest quarter; 0: undisturbed, or no ruler */
    struct exp_phases phases;
    double convert_ns[2]; /* a plug-in's own conversions, not in the samples: before a run, after a run; 0: none */
    struct value count[EXP_N_COUNTS]; /* of one run; exp_case_count knows of cases that were not timed */
};

struct exp_simulated {
    const char *why; /* NULL: replayed */
    bool is_copy;    /* of an identical layer of the experiment */
    struct sim_stats stats;
    uint64_t mac_instructions; /* multiply-adds of the machine's shape that the micro-kernels issue; 0: not stated */
    struct sim_cycles cycles[CONV_N_PHASES]; /* 0 without cycles: estimate.h */
    double share;             /* of the accesses, what was simulated one by one; 1: the counts are exact */
    double pm[EXP_N_SAMPLED]; /* half of the 95 % interval of each quantity; whole numbers, 0: exact */
};

/* The part of a case watched access by access (experiments/observe), and the replay of this part. */
struct exp_watched {
    const char *why;    /* NULL: observed; else a reason owned by somebody who outlives the struct */
    const char *source; /* the observer, for people */
    double share;       /* of the layer's multiply-adds: a large layer is observed in part */
    const struct sim_stats *seen, *replayed;
};

struct exp_case {
    const struct exp_layer *layer;
    const struct exp_algo *algo;
    struct csa_tiling tiling[CSA_N_SCHEDULES]; /* CSA's analysis of the layer, equal in all cases of the layer */
    bool is_chosen;                            /* SConv in the schedule that CSA chose */
    size_t same_as;                            /* index of the first case of equal shape and algorithm */
    struct conv_plan plan;
    const char *why_refused; /* why the case does not run: of a plug-in, or of the question; outlives the case; NULL */
    const char *why_doubted; /* a doubt about the plug-in: the case is refused without a graver reason */
    bool is_wrong;           /* the plug-in broke a rule, and all its layers are refused */
    struct exp_measured measured;
    struct exp_simulated simulated; /* through the machine of the file */
    struct exp_simulated alone;     /* through the caches alone (sim_machine_caches_alone) */
    struct exp_watched observed;
};

struct exp_experiment {
    const struct exp_setup *setup;
    const struct exp_model *model;
    size_t n_algos;
    size_t n_cases; /* layers * algorithms, layer by layer */
    struct exp_case *cases;
};

/* Plans every layer with every selected algorithm. Returns 0, -ENOMEM, or -EOVERFLOW with the table's line in why. */
int exp_experiment_plan(struct exp_experiment *e, const struct exp_setup *setup, const struct exp_model *model,
                        unsigned algos, struct exp_why *why);
void exp_experiment_release(struct exp_experiment *e);

/* Returns the layer's case with the named algorithm, or NULL if the algorithm was not selected. */
const struct exp_case *exp_case_of(const struct exp_experiment *e, const struct exp_case *c, const char *algo);

/* Says why a case does not run here, or NULL. */
const char *exp_case_why_not_run(const struct exp_experiment *e, const struct exp_case *c);

/* Names a tag: a tensor, or a plug-in's memory beside the tensors. */
const char *exp_algo_tensor_name(const struct exp_algo *a, enum conv_tensor t);

/* Returns the case to compare with, or NULL if Base was not selected. */
const struct exp_case *exp_case_base(const struct exp_experiment *e, const struct exp_case *c);

/* Returns the phases of a run. */
struct exp_phases exp_case_phases(const struct exp_case *c);

/* Returns a count of one run. */
struct value exp_case_count(const struct exp_case *c, enum exp_count count);

/* Returns the core's clock beside the fastest rounds, the mean of the ruler's readings; 0: not known. */
double exp_case_ghz(const struct exp_case *c);

/* Returns the times of the rounds; all NaN if there are none. */
struct exp_times exp_case_times(const struct exp_case *c);

/* Returns the rounds of a case beside the rounds of another, of which both were timed. */
struct exp_pair exp_cases_pair(const struct exp_case *base, const struct exp_case *c);

/* Returns the rounds of a case beside Base's rounds, if Base was timed. */
struct exp_pair exp_case_pair(const struct exp_experiment *e, const struct exp_case *c);

/* Returns how many times as fast as Base the case is; all NaN if Base or the case was not timed. */
struct exp_ratio exp_case_speedup(const struct exp_experiment *e, const struct exp_case *c);

/* Tells whether a case belongs to an algorithm, or to the group of this name: the schedule that CSA chose. */
bool exp_case_is_of(const struct exp_case *c, const char *algo);

/*
 * Returns how many times as fast as Base an algorithm's timed cases are; without Base's times, the cases' time in ns.
 */
struct exp_ratio exp_cases_ratio(const struct exp_experiment *e, const char *algo);

/*
 * Tells whether further rounds would not change the speed-ups: whether every timed algorithm's speed-up over the whole
 * model would stand (base/stats.h) on an undisturbed computer; without Base's times, whether its time would.
 */
bool exp_cases_stand(const struct exp_experiment *e);

/*
 * Says in one line in how many layers generated code follows the paper's plan in place of libsconv's plan, and why; "":
 * in none.
 */
void exp_experiment_say_unwritten(const struct exp_experiment *e, const struct exp_setup *s, char *text, size_t bytes);

/* A plan in one line. A later reader can make the plan again, even if the layer is planned differently by then. */

enum { EXP_PLAN_TEXT_BYTES = 160 };

/*
 * Writes the replayed plan: "f32_16x6__avx2 is nc=3 k2=11 k3=3136 packed", "openblas_Haswell gemm p=320 q=320 r=104512
 * lowered", "<direct kernel> direct rows=7 groups=4". Different plans of one layer have different texts.
 */
void exp_plan_text(const struct conv_plan *plan, char text[EXP_PLAN_TEXT_BYTES]);

/*
 * Plans the layer of another plan as a text of an SConv plan says. Returns 0; -EINVAL for a different text, or if this
 * program would not make the plan for this layer: the text of the result equals the given text.
 */
int exp_plan_of_text(struct conv_plan *plan, const struct conv_plan *other, const char *text);

#endif
