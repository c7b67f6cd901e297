/*
 * A sweep: the layers of models, planned and replayed on many configurations.
 *
 * A configuration is a machine with changed keys of the machine's file, a micro-kernel and tiles' numbers. Every layer
 * is planned anew for each configuration. A case is a layer, an algorithm and a configuration. Cases with equal plans
 * and caches share a task of the results store: a latency changes estimates and no counts. Where a latency changes
 * cycles, each case has a task, and all tasks share a simulation.
 */
#ifndef EXPERIMENTS_SWEEP_SWEEP_H
#define EXPERIMENTS_SWEEP_SWEEP_H

#include <stdio.h>

#include "experiments/base/record.h"
#include "experiments/base/screen.h"
#include "experiments/base/tasks.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/bench/model/model.h"
#include "experiments/bench/course/variables.h"
#include "sim/machine/machine_grid.h"

enum { EXP_SWEEP_MOST_CONFIGS = 10000, EXP_SWEEP_MOST_CASES = 1000000, EXP_SWEEP_MOST_CORES = 256 };
enum { EXP_SWEEP_N_TILES = 3 }; /* numbers of tiles that VARY may give: nc, k2, k3 */

#define EXP_SWEEP_ALGOS "base,sconv" /* by default */

/* The user's options. */
struct exp_sweep_options {
    const char *model, *layers, *input, *vary, *machine, *algos, *ukr, *core, *store, *known, *slurm, *share, *results,
        *commit, *plan, *plugin_flags, *plugin_plan, *sample;
    unsigned batch, links, packs_filters, jobs, launcher, shares, plugin_limit, more;
};

struct exp_sweep_config {
    struct exp_setup setup;
    size_t tile[EXP_SWEEP_N_TILES]; /* instead of CSA's; 0: CSA's */
    struct exp_sweep_cut {
        size_t n, n_cut,
            most; /* cases with a number from VARY; cases whose number was cut; the largest number in use */
    } cut[EXP_SWEEP_N_TILES];
    size_t n_cores;         /* cores that run each layer together, with a common last level; 0 and 1: a single core */
    bool has_other_machine; /* VARY has keys of the machine's file */
    char *setting;          /* text that decides counts and cycles: exp_kept_counts_setting */
    char *counting;         /* text that decides counts: exp_kept_counts_alone */
};

struct exp_sweep_case {
    const struct exp_model *model;
    const struct exp_layer *layer;
    const struct exp_algo *algo;
    struct exp_sweep_config *config;
    const char *why; /* NULL: can be replayed */
    bool is_chosen;  /* CSA chose the schedule */
    bool is_own;     /* SConv with CSA's own tiles for this configuration */
    struct conv_plan plan;
    size_t task; /* if why is NULL */
};

/* The counts of a task. */
struct exp_sweep_counts {
    struct sim_cell phase[CONV_N_PHASES];
    uint64_t mac_instructions;
    uint64_t longest_mac_instructions; /* of the core with most */
    uint64_t cycles;          /* by the simulated core's clock, unless exp_sweep_why_no_cycles says otherwise */
    double share;             /* of the accesses, the simulated share; 1: exact */
    double pm[EXP_N_SAMPLED]; /* halves of the 95 % intervals; 0: exact */
};

struct exp_sweep {
    const struct exp_sweep_options *options;
    const struct exp_models *models;
    struct sim_grids grids;
    struct sim_machine base;          /* the machine before changes */
    struct exp_sweep_config **config; /* [grids.n_points] */
    unsigned algos;
    struct exp_sampling sampling; /* as asked for: exp_sweep_list_tasks decides */
    size_t n_algos, n_layers;     /* layers: of all models */
    struct exp_sweep_case *cases; /* model by model, layer by layer, configuration by configuration */
    size_t n_cases;

    struct exp_task *task; /* [n_tasks] */
    size_t *first;         /* [n_jobs + 1] a single pass over a stream answers all tasks of a job */
    size_t n_jobs;
    size_t *case_of; /* [n_tasks] a case of the task */
    struct exp_sweep_counts *counts;
    size_t n_tasks;
};

/*
 * Plans everything. machine is the machine of MACHINE. Returns 0, or -errno with a line in why: for wrong options, a
 * configuration that is no machine, too many configurations; -EINTR.
 */
int exp_sweep_plan(struct exp_sweep *s, const struct exp_sweep_options *o, const struct exp_models *models,
                   const struct sim_machine *machine, struct exp_why *why);

/* Prints a line for each of VARY's tile numbers that is larger than some layers, and was cut for these layers. */
void exp_sweep_say_cut(const struct exp_sweep *s, FILE *out);

/*
 * Lists the tasks of the planned cases, each once, in the order of jobs (jobs.c). Chooses between exact and sampled
 * replays: a sampled replay serves a single machine, and an exact pass many machines.
 */
void exp_sweep_list_tasks(struct exp_sweep *s);
void exp_sweep_forget_tasks(struct exp_sweep *s);

/* Writes the keys of a configuration: "L1.size=16K L2.ways=4". */
void exp_sweep_say_config(const struct exp_sweep *s, size_t config, char *text, size_t bytes);

/* Returns the tasks for exp_tasks_run. */
struct exp_tasks exp_sweep_tasks(struct exp_sweep *s);

double exp_sweep_seconds(const struct exp_sweep *s); /* of all tasks, on a usual computer, a single thread */

/* Tells whether a configuration has several cores. */
static inline bool exp_sweep_has_cores(const struct exp_sweep_config *c)
{
    return c->n_cores > 1;
}

/* Says why a replayed case has no cycles by the simulated core's clock; NULL: the case has cycles. */
const char *exp_sweep_why_no_cycles(const struct exp_sweep_case *x);

/* Returns the case of a layer (index over all models), a configuration and the a-th selected algorithm. */
const struct exp_sweep_case *exp_sweep_case_at(const struct exp_sweep *s, size_t layer, size_t config, size_t algo);

void exp_sweep_release(struct exp_sweep *s); /* a half-planned one is fine */

/* ---- results (report.c) ---- */

/*
 *   sweep.csv    a row for each layer, algorithm and configuration
 *   configs.csv  sums over the layers of a model, with the best configuration and the Pareto front of cost against size
 *   best.csv     the best configuration of each layer and algorithm
 */
extern const struct rec_table exp_sweep_cases_table, exp_sweep_sums_table, exp_sweep_best_table;

struct exp_sweep_report {
    const struct exp_sweep *sweep;
    const char *why_no_estimate;
    bool has_cycles;           /* all replayed cases have cycles: cycles are the cost */
    struct exp_sweep_row *sum; /* [n_sums] by model, algorithm, configuration: report.c */
    size_t n_sums;
};

/* Writes the files, from complete counts. Returns 0 or -errno with a line in why. */
int exp_sweep_report_write(struct exp_sweep_report *r, const struct exp_sweep *s, const struct exp_outdir *dir,
                           const char *what, struct exp_why *why);

/* ---- the best plans of SConv (plans.c) ---- */

#define EXP_SWEEP_PLANS_FILE "plans.json"

/* Writes the file, unless plans are for several machines or cores. Returns 0, or -errno with a line in why. */
int exp_sweep_plans_write(const struct exp_sweep_report *r, const struct exp_outdir *dir, struct exp_why *why);

/* Prints the cost of the plans, and how to run the plans; nothing if there is no file or no choice. */
void exp_sweep_plans_say(const struct exp_sweep_report *r, FILE *out);

double exp_sweep_cost(const struct exp_sweep_report *r, const struct exp_sweep_case *x); /* x must be replayed */

/* Prints the answer: for the terminal's last lines, and for verdict.txt. */
void exp_sweep_report_answer(const struct exp_sweep_report *r, FILE *out);

const char *exp_sweep_unit(const struct exp_sweep_report *r); /* the cost, in words */

/* ---- the screen (screen.c) ---- */

/* Says which configuration costs least, in a sentence or two. */
void exp_sweep_headline(const struct exp_sweep_report *r, char *text, size_t bytes);

/* Fills the screen but for its end. */
void exp_sweep_screen(const struct exp_sweep_report *r, struct exp_screen *screen);

/*
 * Sets the variables of figures: machine, cost_label; x_key, y_key: the first two keys with several values, or "";
 * x_values, y_values: the keys' values, each in quotes; shown_algos.
 */
void exp_sweep_set_variables(const struct exp_sweep_report *r, struct exp_variables *v);

#endif
