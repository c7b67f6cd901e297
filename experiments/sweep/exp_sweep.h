/*
 * A sweep: the layers of models, planned and replayed on many configurations.
 *
 * A configuration is a machine with some keys of its file changed, a micro-kernel and tiles' numbers. Every layer is
 * planned anew for each. What is simulated are cases: a layer, an algorithm, a configuration. Cases whose plan and
 * caches are the same are one task of the results store: a latency changes estimates and no counts.
 */
#ifndef EXPERIMENTS_EXP_SWEEP_H
#define EXPERIMENTS_EXP_SWEEP_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/replay/exp_estimate.h"
#include "experiments/setup/exp_model.h"
#include "experiments/store/exp_tasks.h"
#include "sim/machine/machine_grid.h"

enum { EXP_SWEEP_MOST_CONFIGS = 10000, EXP_SWEEP_MOST_CASES = 1000000, EXP_SWEEP_MOST_CORES = 256 };
enum { EXP_SWEEP_N_TILES = 3 }; /* numbers of tiles that VARY may give: nc, k2, k3 */

#define EXP_SWEEP_ALGOS "base,sconv" /* by default */

/* Holds what the user asked for. */
struct exp_sweep_options {
    const char *model, *layers, *vary, *machine, *algos, *ukr, *core, *store, *known, *slurm, *share, *results, *commit;
    unsigned packs_filters, jobs, launcher, shares;
};

struct exp_sweep_config {
    struct exp_setup setup;
    size_t n_c, k2, k3; /* instead of CSA's; 0: CSA's */
    struct exp_sweep_cut {
        size_t n, n_cut, most; /* cases with a number of their own; those that had to be given less; the most of them */
    } cut[EXP_SWEEP_N_TILES];  /* n_c, k2, k3 */
    size_t n_cores;            /* that run each layer together, with one last level; 0 and 1: one */
    char *setting;             /* what decides counts: exp_kept_counts_setting */
};

struct exp_sweep_case {
    const struct exp_model *model;
    const struct exp_layer *layer;
    const struct exp_algo *algo;
    struct exp_sweep_config *config;
    const char *why_not; /* NULL: it can be replayed */
    bool is_chosen;      /* a schedule that CSA chose */
    bool is_own;         /* SConv with CSA's own tiles for this configuration */
    struct conv_plan plan;
    size_t task; /* unless it cannot be replayed */
};

/* Holds what a task came to. */
struct exp_sweep_counts {
    struct sim_cell phase[CONV_N_PHASES];
    uint64_t mac_instructions;
    uint64_t longest_mac_instructions; /* of the core that has most */
};

struct exp_sweep {
    const struct exp_sweep_options *options;
    const struct exp_models *models;
    struct sim_grids grids;
    struct sim_machine base;          /* the machine that is varied */
    struct exp_sweep_config **config; /* [grids.n_points] */
    unsigned algos;
    struct exp_sweep_case *cases; /* model by model, layer by layer, configuration by configuration */
    size_t n_cases;

    struct exp_task *task; /* [n_tasks] */
    size_t *first;         /* [n_jobs + 1] tasks of a job are answered by one pass over one stream */
    size_t n_jobs;
    size_t *case_of; /* [n_tasks] one that is the task's */
    struct exp_sweep_counts *counts;
    size_t n_tasks;
};

/*
 * Plans everything. machine is what MACHINE names. Returns 0, or -errno with one line in why: for what the options have
 * wrong, a configuration that is no machine, too many of them; -EINTR; -ENOMEM.
 */
int exp_sweep_plan(struct exp_sweep *s, const struct exp_sweep_options *o, const struct exp_models *models,
                   const struct sim_machine *machine, struct exp_why *why);

/*
 * Says which of VARY's tile numbers are more than some layers have, and were cut to what they have. A line each, or
 * none.
 */
void exp_sweep_say_cut(const struct exp_sweep *s, FILE *out);

/* Lists the tasks of the planned cases, each once. Returns 0 or -ENOMEM with one line in why. */
int exp_sweep_list_tasks(struct exp_sweep *s, struct exp_why *why);

/* Returns the tasks for exp_tasks_run. */
struct exp_tasks exp_sweep_tasks(struct exp_sweep *s);

double exp_sweep_seconds(const struct exp_sweep *s); /* of all tasks, on a usual computer, one thread */

/* Tells whether a configuration has several cores. */
static inline bool exp_sweep_has_cores(const struct exp_sweep_config *c)
{
    return c->n_cores > 1;
}

/* Returns the case of a layer (index over all models), a configuration and the a-th selected algorithm. */
const struct exp_sweep_case *exp_sweep_case_at(const struct exp_sweep *s, size_t layer, size_t config, size_t algo);
size_t exp_sweep_n_layers(const struct exp_sweep *s);
size_t exp_sweep_n_algos(const struct exp_sweep *s);

void exp_sweep_release(struct exp_sweep *s); /* a half-planned one is fine */

#endif
