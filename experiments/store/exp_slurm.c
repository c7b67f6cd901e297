#include "experiments/store/exp_slurm.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"

struct cluster {
    const struct exp_slurm *s;
    int64_t *id; /* of the tasks in the store */
    size_t n_tasks;
    struct exp_slurm_job job;
    struct exp_store_states states;
    double reported; /* seconds */
    struct exp_why *why;
};

static int fail_memory(struct cluster *c)
{
    return exp_fail(c->why, -ENOMEM, "out of memory");
}

/* ---- parts ---- */

/* Merges the parts that are there by now. */
static int merge(struct cluster *c)
{
    int err = 0;

    for (unsigned i = 0; i < c->s->request.n_shares && !err; i++) {
        char *path = exp_format("%s/%u.sqlite", c->job.parts, i);
        size_t n;

        if (!path)
            return fail_memory(c);
        if (!access(path, F_OK))
            err = exp_store_merge(c->s->store, path, &n, c->why);
        free(path);
    }
    return err ? err : exp_store_count(c->s->store, c->id, c->n_tasks, &c->states, c->why);
}

static void report(struct cluster *c, size_t n_jobs)
{
    double done = c->s->seconds * (double)(c->states.n_done + c->states.n_failed) / (double)c->n_tasks;
    char name[96], step[96];

    exp_say(name, sizeof name, "Slurm job %s", c->job.id);
    exp_say(step, sizeof step, "%s; %zu done, %zu jobs running or waiting, %zu left", c->s->doing, c->states.n_done,
            n_jobs, c->n_tasks - c->states.n_done - c->states.n_failed);
    exp_progress_step(c->s->progress, c->s->tasks->work, done - c->reported);
    exp_progress_begin(c->s->progress, c->s->tasks->work, name, step);
    c->reported = done;
}

/* Waits for the jobs' end. */
static int wait_for_jobs(struct cluster *c)
{
    char note[512];
    size_t left;
    int err;

    do {
        err = exp_slurm_job_ask(&c->job, &left, note, sizeof note, c->why);
        if (*note)
            exp_progress_note(c->s->progress, "%s", note);
        if (!err)
            err = merge(c);
        if (!err)
            report(c, left);
        if (!err && left)
            exp_slurm_job_pause();
        if (exp_interrupted())
            return exp_slurm_job_interrupt(&c->job, c->why);
    } while (!err && left);
    return err;
}

/* ---- the whole ---- */

/* Says what is missing: the share that task index belongs to has a log. */
static int complain(struct cluster *c)
{
    size_t n = c->n_tasks - c->states.n_done, job = 0;

    if (!n)
        return 0;
    while (c->s->tasks->first[job + 1] <= c->states.first_not_done)
        job++;
    return exp_fail(c->why, -EIO,
                    "%zu of %zu %s have no result (%zu failed), such as %s; %s/%zu.log may say why; run it "
                    "again to try them again",
                    n, c->n_tasks, c->s->results, c->states.n_failed, c->s->tasks->task[c->states.first_not_done].name,
                    c->job.parts, job % c->s->request.n_shares);
}

static int prepare(struct cluster *c)
{
    int err = exp_slurm_job_prepare(&c->job, &c->s->request, exp_store_path(c->s->store), c->why);

    if (err) {
        exp_store_withdraw(c->s->store);
        return err;
    }
    c->id = calloc(c->n_tasks + 1, sizeof *c->id);
    if (!c->id)
        return fail_memory(c);
    return exp_store_add(c->s->store, c->s->tasks->task, c->n_tasks, c->id, c->why);
}

int exp_slurm_run(const struct exp_slurm *s, struct exp_why *why)
{
    struct cluster c = { .s = s, .n_tasks = s->tasks->first[s->tasks->n_jobs], .why = why };
    int err = prepare(&c);

    if (!err)
        err = merge(&c); /* of an earlier run that was killed */
    if (!err && c.states.n_done < c.n_tasks) {
        err = exp_slurm_job_submit(&c.job, why);
        if (err)
            exp_store_withdraw(s->store);
        else
            err = wait_for_jobs(&c);
        if (!err)
            err = complain(&c);
    }
    free(c.id);
    return err;
}
