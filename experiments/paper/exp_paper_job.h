/* A setting of one model: planned, named by a key of everything that its numbers depend on, and made. */
#ifndef EXPERIMENTS_EXP_PAPER_JOB_H
#define EXPERIMENTS_EXP_PAPER_JOB_H

#include "experiments/base/exp_error.h"
#include "experiments/measure/exp_measure.h"
#include "experiments/observe/exp_observe.h"
#include "experiments/paper/exp_paper_cases.h"
#include "experiments/paper/exp_paper_work.h"

#define EXP_PAPER_ABOUT_FILE "about.txt" /* how a part was made, one line */

struct exp_paper_job {
    struct exp_paper_work *w;
    const struct exp_paper_setting *setting;
    struct exp_setup *setup;
    struct exp_paper_part *part;
    size_t model;
    struct exp_experiment e;
    char *folder, *key;            /* from malloc */
    struct exp_measure_info *info; /* of what was timed: its reasons are those of the cases */
    struct exp_observed *observed; /* likewise, of what was observed */
    struct exp_why *why;
};

/* The state of the caches in which the job's layers begin. */
enum exp_cache_state exp_paper_job_caches(const struct exp_paper_job *j);

struct exp_measure_options exp_paper_job_measuring(const struct exp_paper_job *j);

/* Makes the key, and the name of the folder, of a job that is planned. Returns 0 or -ENOMEM with one line in why. */
int exp_paper_job_key(struct exp_paper_job *j);

/* Tells whether the folder holds what this job would make. Numbers of sources that have no name are never kept. */
bool exp_paper_job_is_kept(const struct exp_paper_job *j);

/* Plans what is to be observed, once. Returns as exp_observe_plan. */
int exp_paper_job_plan_observing(struct exp_paper_job *j);

/* Times or observes, and writes the folder. Returns 0 or -errno with one line in why. */
int exp_paper_job_make(struct exp_paper_job *j);

/* Writes the folder of what was replayed. Returns 0 or -errno with one line in why. */
int exp_paper_job_write_replay(struct exp_paper_job *j);

void exp_paper_job_release(struct exp_paper_job *j);

#endif
