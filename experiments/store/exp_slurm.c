#include "experiments/store/exp_slurm.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_process.h"
#include "experiments/base/exp_signal.h"

enum { COMMAND_S = 120, POLL_S = 1, TEXT_BYTES = 512 };

struct cluster {
    const struct exp_slurm *s;
    int64_t *id; /* of the tasks in the store */
    size_t n_tasks;
    char parts[1024]; /* folder */
    char job[64];
    struct exp_store_states states;
    double reported; /* seconds */
    char *why;
    size_t why_bytes;
};

static int fail_memory(struct cluster *c)
{
    return exp_fail(c->why, c->why_bytes, -ENOMEM, "out of memory");
}

/* Runs a line of sh. What it says on its standard error last is in answer. */
static int shell(const char *line, char *answer, size_t bytes, bool (*interrupted)(void))
{
    const char *const argv[] = { "sh", "-c", line, NULL };
    int status, err = exp_process_run(argv, COMMAND_S, interrupted, &status, answer, bytes);

    return err ? err : WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

/* ---- the script of a job ---- */

static void print_quoted(const char *word, FILE *out)
{
    fputc('\'', out);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    }
    fputs("' ", out);
}

/* Prints what a job runs: this program on its share. It says on which host and CPU, and how many tasks it had. */
static int print_script(const struct cluster *c, const char *program, const char *folder, FILE *out)
{
    fprintf(out, "#!/bin/sh\nshare=$SLURM_ARRAY_TASK_ID\ncd ");
    print_quoted(folder, out);
    fprintf(out,
            "|| exit 1\necho \"host $(hostname), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)\"\nexec ");
    print_quoted(program, out);
    for (char *const *a = c->s->argv + 1; *a; a++)
        print_quoted(*a, out);
    if (c->s->has_threads)
        fprintf(out, "\"JOBS=${SLURM_CPUS_ON_NODE:-1}\" ");
    fprintf(out, "LAUNCHER=here \"SHARE=$share/%u\" STORE=", c->s->n_shares);
    print_quoted(c->parts, out);
    fseek(out, -1, SEEK_CUR); /* no blank before the file's name */
    fprintf(out, "/\"$share\".sqlite KNOWN=");
    print_quoted(exp_store_path(c->s->store), out);
    fputc('\n', out);
    return ferror(out) ? -EIO : 0;
}

static int write_script(struct cluster *c, const char *path)
{
    char program[1024] = "", folder[1024] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    FILE *out = length > 0 && getcwd(folder, sizeof folder) ? fopen(path, "w") : NULL;
    int err = out ? print_script(c, program, folder, out) : -errno;

    if (out && fclose(out) && !err)
        err = -errno;
    return err ? exp_fail(c->why, c->why_bytes, err, "cannot write '%s': %s", path, strerror(-err)) : 0;
}

/* ---- jobs ---- */

static int submit(struct cluster *c)
{
    char *script = exp_format("%s/job.sh", c->parts), answer[TEXT_BYTES], *line;
    int err;

    line = exp_format("sbatch --parsable --array=0-%u --job-name=%s --output='%s/%%a.log' %s %s '%s' >&2",
                      c->s->n_shares - 1, c->s->name, c->parts, c->s->needs, c->s->words, script ? script : "");
    err = script && line ? write_script(c, script) : fail_memory(c);
    if (!err && shell("command -v sbatch >/dev/null", answer, sizeof answer, exp_interrupted))
        err = exp_fail(c->why, c->why_bytes, -ENOENT, "LAUNCHER=slurm: this computer has no sbatch");
    if (!err && shell(line, answer, sizeof answer, exp_interrupted))
        err = exp_fail(c->why, c->why_bytes, -EIO, "sbatch submits no job: %s", answer);
    if (!err)
        exp_say(c->job, sizeof c->job, "%.*s", (int)strspn(answer, "0123456789"), answer);
    free(script);
    free(line);
    return err;
}

/* Returns how many of the array's jobs wait or run. */
static size_t jobs_left(const struct cluster *c)
{
    char *line = exp_format("squeue -h -r -j %s 2>/dev/null | wc -l >&2", c->job), answer[TEXT_BYTES] = "0";

    if (line)
        shell(line, answer, sizeof answer, exp_interrupted);
    free(line);
    return strtoul(answer, NULL, 10);
}

static void cancel(const struct cluster *c)
{
    char *line = exp_format("scancel %s", c->job), answer[TEXT_BYTES];

    if (line)
        shell(line, answer, sizeof answer, NULL);
    free(line);
}

/* ---- parts ---- */

/* Merges the parts that are there by now. */
static int merge(struct cluster *c)
{
    int err = 0;

    for (unsigned i = 0; i < c->s->n_shares && !err; i++) {
        char *path = exp_format("%s/%u.sqlite", c->parts, i);
        size_t n;

        if (!path)
            return fail_memory(c);
        if (!access(path, F_OK))
            err = exp_store_merge(c->s->store, path, &n, c->why, c->why_bytes);
        free(path);
    }
    return err ? err : exp_store_count(c->s->store, c->id, c->n_tasks, &c->states, c->why, c->why_bytes);
}

static void report(struct cluster *c, size_t n_jobs)
{
    double done = c->s->seconds * (double)(c->states.n_done + c->states.n_failed) / (double)c->n_tasks;
    char name[96], step[96];

    exp_say(name, sizeof name, "Slurm job %s", c->job);
    exp_say(step, sizeof step, "%s; %zu done, %zu jobs running or waiting, %zu left", c->s->doing, c->states.n_done,
            n_jobs, c->n_tasks - c->states.n_done - c->states.n_failed);
    exp_progress_step(c->s->progress, c->s->tasks->work, done - c->reported);
    exp_progress_begin(c->s->progress, c->s->tasks->work, name, step);
    c->reported = done;
}

/* Waits for the jobs' end. */
static int wait_for_jobs(struct cluster *c)
{
    size_t left;
    int err;

    do {
        const struct timespec pause = { .tv_sec = POLL_S };

        left = jobs_left(c);
        err = merge(c);
        if (!err)
            report(c, left);
        if (!err && left)
            nanosleep(&pause, NULL);
        if (exp_interrupted()) {
            cancel(c);
            return exp_fail(c->why, c->why_bytes, -EINTR, "interrupted; job %s was cancelled, what is done is kept",
                            c->job);
        }
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
    return exp_fail(c->why, c->why_bytes, -EIO,
                    "%zu of %zu %s have no result (%zu failed), such as %s; %s/%zu.log may say why; run it "
                    "again to try them again",
                    n, c->n_tasks, c->s->results, c->states.n_failed, c->s->tasks->task[c->states.first_not_done].name,
                    c->parts, job % c->s->n_shares);
}

static int prepare(struct cluster *c)
{
    exp_say(c->parts, sizeof c->parts, "%s.parts", exp_store_path(c->s->store));
    if (mkdir(c->parts, 0777) && errno != EEXIST)
        return exp_fail(c->why, c->why_bytes, -errno, "cannot make the folder '%s': %s", c->parts, strerror(errno));
    c->id = calloc(c->n_tasks + 1, sizeof *c->id);
    if (!c->id)
        return fail_memory(c);
    return exp_store_add(c->s->store, c->s->tasks->task, c->n_tasks, c->id, c->why, c->why_bytes);
}

int exp_slurm_run(const struct exp_slurm *s, char *why, size_t why_bytes)
{
    struct cluster c = { .s = s, .n_tasks = s->tasks->first[s->tasks->n_jobs], .why = why, .why_bytes = why_bytes };
    int err = prepare(&c);

    if (!err)
        err = merge(&c); /* of an earlier run that was killed */
    if (!err && c.states.n_done < c.n_tasks) {
        err = submit(&c);
        if (!err)
            err = wait_for_jobs(&c);
        if (!err)
            err = complain(&c);
    }
    free(c.id);
    return err;
}
