#include "experiments/store/exp_slurm.h"

#include <errno.h>
#include <stdio.h>
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

/* ---- the whole program as one job ---- */

/* A file that the job writes, and how much of it has been passed on. */
struct tail {
    const char *suffix;
    FILE *to;
    long at;
};

struct whole {
    struct exp_slurm_job job;
    struct tail log, err;
};

/* Returns the path of a file of the job's, from malloc; NULL when out of memory. */
static char *path_of(const struct whole *w, const char *suffix)
{
    return exp_format("%s/%s.%s", w->job.parts, w->job.id, suffix);
}

/* Passes on what has come to a file since the last time. */
static void follow(const struct whole *w, struct tail *t)
{
    char *path = path_of(w, t->suffix), text[4096];
    FILE *in = path ? fopen(path, "r") : NULL;
    size_t n;

    free(path);
    if (!in)
        return;
    if (!fseek(in, t->at, SEEK_SET)) {
        while ((n = fread(text, 1, sizeof text, in)) > 0) {
            fwrite(text, 1, n, t->to);
            t->at += (long)n;
        }
    }
    fclose(in);
    fflush(t->to);
}

static int wait_for_end(struct whole *w, struct exp_why *why)
{
    char note[512];
    size_t left;
    int err;

    do {
        err = exp_slurm_job_ask(&w->job, &left, note, sizeof note, why);
        if (*note)
            fprintf(stderr, "%s: %s\n", w->job.request->name, note);
        follow(w, &w->err);
        follow(w, &w->log);
        if (exp_interrupted())
            return exp_slurm_job_interrupt(&w->job, why);
        if (!err && left)
            exp_slurm_job_pause();
    } while (!err && left);
    return err;
}

/* Says how the job ended, by the exit status that it left. */
static int judge(const struct whole *w, struct exp_why *why)
{
    char *path = path_of(w, "status");
    FILE *in = path ? fopen(path, "r") : NULL;
    int status, n = in ? fscanf(in, "%d", &status) : 0;

    free(path);
    if (in)
        fclose(in);
    if (n != 1)
        return exp_fail(
            why, -EIO,
            "job %s did not get to its end: it was cancelled, ran out of time, or its node failed; its log is "
            "%s/%s.err; run it again",
            w->job.id, w->job.parts, w->job.id);
    return status ? exp_fail(why, -EIO,
                             "job %s failed with exit status %d: what it says stands above, and in "
                             "%s/%s.err",
                             w->job.id, status, w->job.parts, w->job.id)
                  : 0;
}

/* Takes over what the job has kept. */
static int merge_part(const struct whole *w, struct exp_store *store, struct exp_why *why)
{
    char *path = path_of(w, "sqlite");
    size_t n;
    int err = 0;

    if (!path)
        return exp_fail(why, -ENOMEM, "out of memory");
    if (!access(path, F_OK)) {
        err = exp_store_merge(store, path, &n, why);
        if (!err)
            unlink(path);
    }
    free(path);
    return err;
}

int exp_slurm_run_whole(const struct exp_slurm_request *r, struct exp_store *store, struct exp_why *why)
{
    struct whole w = { .log = { "log", stdout, 0 }, .err = { "err", stderr, 0 } };
    int err = exp_slurm_job_prepare(&w.job, r, exp_store_path(store), why), merged;

    if (!err)
        err = exp_slurm_job_submit(&w.job, why);
    if (err) {
        exp_store_withdraw(store);
        return err;
    }
    fprintf(stderr, "%s: Slurm job %s; its logs are %s/%s.log and .err\n", r->name, w.job.id, w.job.parts, w.job.id);
    err = wait_for_end(&w, why);
    if (!err)
        err = judge(&w, why);
    merged = merge_part(&w, store, err ? NULL : why);
    return err ? err : merged;
}
