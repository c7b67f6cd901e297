#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/store/exp_slurm.h"

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
static int merge(const struct whole *w, struct exp_store *store, struct exp_why *why)
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
    merged = merge(&w, store, err ? NULL : why);
    return err ? err : merged;
}
