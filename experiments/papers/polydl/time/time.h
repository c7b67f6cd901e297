/*
 * Times of a layer's variants, in turns, and of what they are held against: each timed run follows an untimed one of
 * its own, unless runs are long. A single image and the thread's own clock; or an image for each thread, which a GEMM does
 * not have: its threads share the parallel loop; and the wall's clock.
 *
 * Variants that are about as fast as the fastest one have more rounds, until the clock repeats itself (exp_turns_run).
 *
 * Everything accumulates into its output, as the paper's loops do, which clear it beforehand; SConv, oneDNN and Base
 * overwrite it. Before they are timed, all variants have made the same output, which is SConv's.
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_TIME_TIME_H
#define EXPERIMENTS_PAPERS_POLYDL_TIME_TIME_H

#include "experiments/base/error.h"
#include "experiments/base/stats.h"
#include "experiments/base/tasks.h"
#include "experiments/bench/case/algo.h"
#include "experiments/bench/case/case.h"
#include "experiments/papers/polydl/time/dnnl.h"
#include "experiments/bench/time/ruler.h"
#include "experiments/papers/polydl/polydl.h"
#include "kernels/ukr/small.h"

struct exp_polydl_timing {
    const struct exp_setup *setup; /* of SConv and Base */
    const struct exp_dnnl *dnnl;   /* NULL: it is not there */
    const struct conv_small *small;
    bool uses_xsmm;          /* variants run LIBXSMM's micro-kernels and not ours */
    uint64_t budget_ns;      /* of each variant, half of it on two threads */
    uint64_t refine_ns;      /* the same, which the variants of a layer that lead may have in all (exp_turns_run) */
    unsigned n_threads;      /* up to so many are timed */
    struct exp_ruler *ruler; /* beside each timing of a single thread, which are taken again for that long; or NULL */
};

/*
 * Times a layer that has variants: fills the times of *l. Returns 0; -EINTR; -EILSEQ if two outputs are not the same;
 * with a line in why.
 */
int exp_polydl_time(struct exp_polydl_layer *l, const struct exp_polydl_timing *t, struct exp_why *why);

/*
 * Returns the share of the outermost loop's iterations that are timed of a baseline, from the first on: of the plain
 * loops, and of a GEMM's tiles of 16, which are slow. Times are scaled to all of them.
 */
double exp_polydl_timed_share(const struct exp_polydl_layer *l, enum exp_polydl_baseline b);

/* Tells how long that takes on a usual computer. */
double exp_polydl_time_seconds(const struct exp_polydl_layer *l, const struct exp_polydl_timing *t);

/*
 * ---- tasks ----
 *
 * The work on layers and variants as tasks of the results store, so that nothing is done twice, and what was stopped
 * goes on. Layers with the same variants, of whatever model, are one.
 *
 * Times are kept, too: they are of this computer, this program and this budget. Without a store they are taken again.
 */

/* Lists work as it is found: a task each. Starts as { 0 }. */
struct exp_polydl_jobs {
    struct exp_task *task;
    size_t n;
    struct exp_polydl_job {
        size_t layer, variant;
        enum exp_polydl_replay replay;
    } * job; /* [n_jobs], of each task */
    size_t n_jobs;
};

/* Adds a job; the texts of its task, name and what, are from malloc, and the list's then. */
void exp_polydl_jobs_add(struct exp_polydl_jobs *l, struct exp_polydl_job job, struct exp_task task);

/* Does the jobs, as tasks says but for their list, and releases them. Returns as exp_tasks_run. */
int exp_polydl_jobs_run(struct exp_polydl_jobs *l, struct exp_tasks tasks, const struct exp_tasks_options *o,
                        struct exp_tasks_counts *counts, struct exp_why *why);

/* Moves times, under names that begin with a prefix. */
void exp_polydl_time_move(struct exp_result_moving *x, const char *prefix, struct exp_polydl_time *t);

/* Returns pages of memory for tensors, from malloc; nothing is set. The program ends where there is none. */
void *exp_polydl_pages(size_t bytes);

/* Says which computer takes times: its name and CPU; from malloc. Returns 0, or -errno with a line in why. */
int exp_polydl_computer(char **text, struct exp_why *why);

/* Times all layers, one after the other. Returns as exp_tasks_run. */
int exp_polydl_measure(struct exp_polydl *p, const struct exp_polydl_timing *t, const struct exp_tasks_options *o,
                       struct exp_tasks_counts *counts, struct exp_why *why);

/* Simulates all variants, with the accesses of a micro-kernel. Returns as exp_tasks_run. */
int exp_polydl_simulate(struct exp_polydl *p, const struct conv_small *small, const struct exp_tasks_options *o,
                        struct exp_tasks_counts *counts, struct exp_why *why);

/* Tells how long these take on a usual computer, on a single thread; t is NULL: simulating. */
double exp_polydl_seconds(const struct exp_polydl *p, const struct exp_polydl_timing *t);

/*
 * ---- turns ----
 *
 * Contenders that take turns (base/stats.h), and more rounds for those that lead.
 *
 * The fastest of a few rounds is noisy, and the noise matters only among contenders that are about as fast as the
 * fastest one. So all of them run some rounds first. Then the leaders run on, two rounds at a time, until the clock
 * repeats itself:
 *
 *   a leader                  its fastest round has EXP_TURNS_LEAD of the speed of the fastest round of all
 *   the clock repeats itself  every other round is a half of the rounds. What either half finds fastest has
 *                             EXP_TURNS_REPEAT of the best speed by the other half. Leaders have EXP_TURNS_LEAST rounds
 *                             at least
 *
 * A contender that falls behind runs no more, and a single leader needs no telling apart.
 */
#define EXP_TURNS_LEAD 0.9
#define EXP_TURNS_REPEAT 0.99

enum { EXP_TURNS_LEAST = 8 };

struct exp_turns {
    struct exp_bench protocol; /* of the first rounds */
    size_t n_ranked;           /* the first so many contenders may lead */
    size_t most;               /* rounds of a contender in all, at least those of the protocol */
    uint64_t refine_ns;        /* leaders begin no more rounds once this much time has gone; 0: nobody runs on */
};

/*
 * Runs n contenders. sample_ns[i * most + k] gets the time of contender i in its round k, and n_rounds[i] how many it
 * has. Returns as exp_bench_run.
 */
int exp_turns_run(const struct exp_turns *t, const struct exp_contender *contender, size_t n, uint64_t *sample_ns,
                  size_t *n_rounds);

/* A run that takes its turn, each time after an untimed one unless runs are long. */
struct exp_turn {
    int (*run)(void *ctx); /* returns 0 or -errno */
    void *ctx;
    uint64_t last_ns;             /* that its last run took; before the first one, what is expected */
    double times;                 /* everything / what a run does of it */
    struct exp_polydl_time *time; /* gets the times, of everything */
};

/* Has n turns taken; of none, nothing is done. Returns as exp_turns_run. */
int exp_turns_take(struct exp_turn *turn, size_t n, const struct exp_turns *t, struct exp_ruler *ruler);

/* ---- plans in this project's algorithms ---- */

/* Holds a single layer's plans, as an experiment of a single layer. */
struct exp_layer_plans {
    struct exp_layer layer;
    struct exp_model model;
    struct exp_experiment plans;
};

/*
 * Plans a layer's shape, of as many images as are wanted, in a comma-separated list of algorithms. It must stay where
 * it is. Returns as exp_experiment_plan.
 */
int exp_layer_plans_init(struct exp_layer_plans *p, const struct exp_setup *setup, const struct exp_polydl_layer *l,
                         const struct conv_problem *shape, const char *algos, struct exp_why *why);
void exp_layer_plans_release(struct exp_layer_plans *p); /* one that is all zeros is fine */

/* Returns the case of an algorithm; NULL if it was not asked for. */
const struct exp_case *exp_layer_plans_case(const struct exp_layer_plans *p, const char *algo);

/* ---- the loops of PolyDL's Figures 8 and 16 as they stand there, without a micro-kernel ---- */

/* Returns how many iterations the outermost loop has: blocks of filters, or rows of a GEMM. */
size_t exp_loops_iterations(const struct exp_variant_source *s);

/*
 * Adds the first iterations of the outermost loop, of a single image's convolution in blocked layouts or of the GEMM, to C.
 */
void exp_loops_run(const struct exp_variant_source *s, size_t n_iterations, const float *a, const float *b, float *c);

/*
 * Between a convolution's usual layouts (kernels/shape/problem.h) and the blocked ones of a variant (variants.h).
 * The blocked tensors have as many images as the problem.
 */

/* Copies an input, and puts zeros where its padding is. */
void exp_block_input(const struct conv_problem *p, size_t block, const float *in, float *blocked);

void exp_block_filter(const struct conv_problem *p, size_t block, const float *filter, float *blocked);
void exp_unblock_output(const struct conv_problem *p, size_t block, const float *blocked, float *out);

/* ---- LIBXSMM (package libxsmm-dev, a static library); built without its header, this says so ---- */

/* A micro-kernel for the very sizes of a variant's calls. */
typedef void (*exp_xsmm_fn)(const float *a, const float *b, float *c);

/* Says why there is no LIBXSMM, or NULL; and its version, or why there is none. */
const char *exp_xsmm_missing(void);
const char *exp_xsmm_version(void);

/*
 * Compiles for calls like this one. Returns NULL if LIBXSMM cannot or is not there. The code is LIBXSMM's to the end.
 */
exp_xsmm_fn exp_xsmm_compile(const struct conv_small_args *a);

#endif
