/*
 * Times of a layer's variants and baselines, in turns: each timed run follows an untimed run of the same contender,
 * unless runs are long. A single image and the thread's own clock; or an image for each thread and the wall's clock. A
 * GEMM has no images: threads share the parallel loop.
 *
 * Variants that are about as fast as the fastest variant have more rounds, until the clock repeats itself
 * (exp_turns_run).
 *
 * Everything accumulates into the output, as the paper's loops do, which clear the output beforehand; SConv, oneDNN and
 * Base overwrite the output. Before the first timed run, all variants have made the same output: SConv's.
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
    const struct exp_dnnl *dnnl;   /* NULL: oneDNN is not there */
    const struct conv_small *small;
    bool uses_xsmm;          /* variants run LIBXSMM's micro-kernels and not ours */
    uint64_t budget_ns;      /* of each variant, half of the budget on two threads */
    uint64_t refine_ns;      /* the budget of the leading variants of a layer together (exp_turns_run) */
    unsigned n_threads;      /* most threads that are timed */
    struct exp_ruler *ruler; /* beside each timing of a single thread; disturbed timings are taken again; or NULL */
};

/*
 * Times a layer with variants: fills the times of *l. Returns 0; -EINTR; -EILSEQ if two outputs differ; with a line in
 * why.
 */
int exp_polydl_time(struct exp_polydl_layer *l, const struct exp_polydl_timing *t, struct exp_why *why);

/*
 * Returns the timed share of the outermost loop's iterations, from the first on, of a baseline: of the plain loops, and
 * of a GEMM's tiles of 16, which are slow. Times are scaled to all iterations.
 */
double exp_polydl_timed_share(const struct exp_polydl_layer *l, enum exp_polydl_baseline b);

/* Tells the time of exp_polydl_time on a usual computer. */
double exp_polydl_time_seconds(const struct exp_polydl_layer *l, const struct exp_polydl_timing *t);

/*
 * ---- tasks ----
 *
 * The work on layers and variants as tasks of the results store, so that nothing is done twice, and stopped work
 * continues. Layers with equal variants, of whatever model, share their tasks.
 *
 * Times are kept, too: times belong to this computer, this program and this budget. Without a store they are taken
 * again.
 */

/* A growing list of work: a task each. Starts as { 0 }. */
struct exp_polydl_jobs {
    struct exp_task *task;
    size_t n;
    struct exp_polydl_job {
        size_t layer, variant;
        enum exp_polydl_replay replay;
    } * job; /* [n_jobs], of each task */
    size_t n_jobs;
};

/* Adds a job; the texts of the task, name and what, are from malloc, and belong to the list then. */
void exp_polydl_jobs_add(struct exp_polydl_jobs *l, struct exp_polydl_job job, struct exp_task task);

/* Does the jobs by `tasks`, in which the list is filled in, and releases the jobs. Returns as exp_tasks_run. */
int exp_polydl_jobs_run(struct exp_polydl_jobs *l, struct exp_tasks tasks, const struct exp_tasks_options *o,
                        struct exp_tasks_counts *counts, struct exp_why *why);

/* Moves times, under names that begin with a prefix. */
void exp_polydl_time_move(struct exp_result_moving *x, const char *prefix, struct exp_polydl_time *t);

/* Returns pages of memory for tensors, from malloc; nothing is set. The program ends where there is none. */
void *exp_polydl_pages(size_t bytes);

/* Names the computer of the times: name and CPU; from malloc. Returns 0, or -errno with a line in why. */
int exp_polydl_computer(char **text, struct exp_why *why);

/* Times all layers, one after the other. Returns as exp_tasks_run. */
int exp_polydl_measure(struct exp_polydl *p, const struct exp_polydl_timing *t, const struct exp_tasks_options *o,
                       struct exp_tasks_counts *counts, struct exp_why *why);

/* Simulates all variants, with the accesses of a micro-kernel. Returns as exp_tasks_run. */
int exp_polydl_simulate(struct exp_polydl *p, const struct conv_small *small, const struct exp_tasks_options *o,
                        struct exp_tasks_counts *counts, struct exp_why *why);

/* Tells the time of measuring on a usual computer, on a single thread; t is NULL: of simulating. */
double exp_polydl_seconds(const struct exp_polydl *p, const struct exp_polydl_timing *t);

/*
 * ---- turns ----
 *
 * Contenders that take turns (base/stats.h), and more rounds for leaders.
 *
 * The fastest of a few rounds is noisy, and the noise matters only among contenders that are about as fast as the
 * fastest contender. So all contenders run some rounds first. Then the leaders run on, two rounds at a time, until the
 * clock repeats itself:
 *
 *   a leader                  the fastest round has EXP_TURNS_LEAD of the speed of the fastest round of all
 *   the clock repeats itself  every second round is a half of the rounds. The fastest contender of either half has
 *                             EXP_TURNS_REPEAT of the best speed in the second half. Leaders have EXP_TURNS_LEAST
 *                             rounds at least
 *
 * A contender that falls behind runs no more, and a single leader needs no telling apart.
 */
#define EXP_TURNS_LEAD 0.9
#define EXP_TURNS_REPEAT 0.99

enum { EXP_TURNS_LEAST = 8 };

struct exp_turns {
    struct exp_bench protocol; /* of the first rounds */
    size_t n_ranked;           /* only the first n_ranked contenders may lead */
    size_t most;               /* rounds of a contender in all, at least the protocol's */
    uint64_t refine_ns;        /* leaders begin no more rounds once this much time has gone; 0: nobody runs on */
};

/*
 * Runs n contenders. sample_ns[i * most + k] gets the time of contender i in round k, and n_rounds[i] the number of
 * rounds. Returns as exp_bench_run.
 */
int exp_turns_run(const struct exp_turns *t, const struct exp_contender *contender, size_t n, uint64_t *sample_ns,
                  size_t *n_rounds);

/* A run that takes turns, each time after an untimed run unless runs are long. */
struct exp_turn {
    int (*run)(void *ctx); /* returns 0 or -errno */
    void *ctx;
    uint64_t last_ns;             /* of the last run; before the first run, the expected time */
    double times;                 /* everything / the part of a run */
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
 * Plans a layer's shape, with the wanted number of images, in a comma-separated list of algorithms. Must stay at its
 * address. Returns as exp_experiment_plan.
 */
int exp_layer_plans_init(struct exp_layer_plans *p, const struct exp_setup *setup, const struct exp_polydl_layer *l,
                         const struct conv_problem *shape, const char *algos, struct exp_why *why);
void exp_layer_plans_release(struct exp_layer_plans *p); /* all zeros are fine */

/* Returns the case of an algorithm; NULL if the algorithm was not asked for. */
const struct exp_case *exp_layer_plans_case(const struct exp_layer_plans *p, const char *algo);

/* ---- the loops of PolyDL's Figures 8 and 16 as printed, without a micro-kernel ---- */

/* Returns how many iterations the outermost loop has: blocks of filters, or rows of a GEMM. */
size_t exp_loops_iterations(const struct exp_variant_source *s);

/*
 * Adds the first iterations of the outermost loop to C: of an image's convolution in blocked layouts, or of the GEMM.
 */
void exp_loops_run(const struct exp_variant_source *s, size_t n_iterations, const float *a, const float *b, float *c);

/*
 * Between a convolution's usual layouts (kernels/shape/problem.h) and a variant's blocked layouts (variants.h). The
 * blocked tensors have as many images as the problem.
 */

/* Copies an input, and puts zeros into the padding. */
void exp_block_input(const struct conv_problem *p, size_t block, const float *in, float *blocked);

void exp_block_filter(const struct conv_problem *p, size_t block, const float *filter, float *blocked);
void exp_unblock_output(const struct conv_problem *p, size_t block, const float *blocked, float *out);

/* ---- LIBXSMM (package libxsmm-dev, a static library); built without its header, this says so ---- */

/* A micro-kernel for the very sizes of a variant's calls. */
typedef void (*exp_xsmm_fn)(const float *a, const float *b, float *c);

/* Says why there is no LIBXSMM, or NULL; and the version, or why there is none. */
const char *exp_xsmm_missing(void);
const char *exp_xsmm_version(void);

/* Compiles for calls with these sizes. Returns NULL if LIBXSMM cannot or is not there. LIBXSMM owns the code. */
exp_xsmm_fn exp_xsmm_compile(const struct conv_small_args *a);

#endif
