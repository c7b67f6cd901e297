/*
 * The networks that peers times, as tasks of the results store. A network is one task: its methods take turns in one
 * process, on one core. It is decided by its layers, by how it is timed (the setting), by the program, and by the run:
 * networks that an earlier run of the same name got to before it was ended are not timed again, those of a finished run
 * are.
 */
#ifndef EXPERIMENTS_EXP_PEERS_TASKS_H
#define EXPERIMENTS_EXP_PEERS_TASKS_H

#include "experiments/base/exp_error.h"
#include "experiments/peers/exp_peers.h"
#include "experiments/peers/exp_peers_report.h"
#include "experiments/setup/exp_model.h"
#include "experiments/store/exp_store.h"
#include "experiments/store/exp_tasks.h"

/* Says where and when a network was timed. */
struct exp_peers_origin {
    char on[192];      /* host and CPU model */
    uint64_t core, at; /* seconds since 1970 */
};

/* Puts all that exp_peers_measure found, and why methods did not run. Errors are the result's own. */
void exp_peers_keep(struct exp_result *to, const struct exp_peers *p, const struct exp_peers_origin *o);

/* Reads it back into a network that is planned. Returns 0, -ENOMEM, or -EINVAL if it is of another one. */
int exp_peers_recall(const struct exp_result *from, struct exp_peers *p, struct exp_peers_origin *o);

struct exp_peers_tasks {
    const struct exp_models *models;
    const struct exp_peers_options *times;
    struct exp_peers of; /* setup, dnnl, why_no_dnnl and peak of all networks */
    struct exp_peers_origin here;
    struct exp_progress *progress;
    char *setting, *program;
    struct exp_task *task;   /* [models->n] */
    size_t *first;           /* [models->n + 1] */
    struct exp_result *kept; /* [models->n] */
    bool *is_new;            /* [models->n] timed by this process */
};

/*
 * Lists the tasks; the first five members are set, and setting says how is timed. Returns 0; as exp_peers_open for what
 * cannot be timed; -ENOMEM or -errno of reading this program; with one line in why. To be released in any case.
 */
int exp_peers_tasks_list(struct exp_peers_tasks *t, const char *setting, struct exp_why *why);
void exp_peers_tasks_release(struct exp_peers_tasks *t);

/* The same for exp_tasks_run, on one thread; t stays where it is. */
struct exp_tasks exp_peers_tasks(struct exp_peers_tasks *t);

/* Reports all networks, in the order of the models. Returns 0 or -errno with one line in why. */
int exp_peers_tasks_report(const struct exp_peers_tasks *t, struct exp_peers_report *r, struct exp_why *why);

/* Prints a line for each network that another process has timed: an earlier run, or a cluster's job. */
void exp_peers_tasks_say_kept(const struct exp_peers_tasks *t, FILE *out);

#endif
