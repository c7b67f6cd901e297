#define _XOPEN_SOURCE 700 /* realpath */
#include "experiments/base/slurm.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiments/base/program.h"
#include "experiments/base/text.h"

extern char **environ;

enum { COMMAND_S = 120, PATIENCE_S = 600 };

/* An array of jobs, and what Slurm says of the array. */
struct array {
    const struct exp_slurm *s;
    unsigned n_jobs, n_left; /* n_left: waiting or running */
    char id[64];
    time_t heard;    /* when squeue has answered last */
    double reported; /* seconds */
    struct exp_process_output output;
    char error[512]; /* the last line of a command's standard error */
};

/* Runs a command of Slurm, and releases the words. */
static int command(struct array *a, struct exp_words *w)
{
    int status, err = exp_process_ask((const char *const *)w->word, COMMAND_S, exp_interrupted, &status, &a->output,
                                      a->error, sizeof a->error);

    if (err && !*a->error)
        exp_say(a->error, sizeof a->error, "%s: %s", w->word[0], strerror(-err));
    exp_words_release(w);
    return err ? err : WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

/* Prints a word in quotes for sh. */
static void print_quoted(FILE *out, const char *before, const char *word)
{
    fprintf(out, "%s'", before);
    for (; *word; word++)
        fprintf(out, *word == '\'' ? "'\\''" : "%c", *word);
    fputc('\'', out);
}

/* Writes the script of a job. A file tells that the job has succeeded. */
static int write_script(const struct exp_slurm *s, const char *path, struct exp_why *why)
{
    char *folder = realpath(".", NULL), *program = realpath("/proc/self/exe", NULL);
    FILE *out = fopen(path, "w");

    if (!out || !folder || !program)
        return exp_fail(why, -errno, "cannot write '%s': %s", path, strerror(errno));
    print_quoted(out, "#!/bin/sh\ncd ", folder);
    print_quoted(out, " || exit\npart=", s->part);
    fprintf(out, "$SLURM_ARRAY_TASK_ID\n"
                 "echo \"host $(hostname), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)\"\n");
    print_quoted(out, "", program);
    for (char *const *a = s->argv; *a; a++)
        print_quoted(out, " ", *a);
    if (s->n_shares)
        fprintf(out, " \"SHARE=$SLURM_ARRAY_TASK_ID/%u\"", s->n_shares);
    print_quoted(out, s->has_threads ? " \"JOBS=${SLURM_CPUS_ON_NODE:-1}\" KNOWN=" : " KNOWN=", s->known);
    fprintf(out, " LAUNCHER=here \"STORE=$part.sqlite\" && touch \"$part.done\"\n");
    free(folder);
    free(program);
    return fclose(out) ? exp_fail(why, -errno, "cannot write '%s': %s", path, strerror(errno)) : 0;
}

static int submit(struct array *a, const char *script, struct exp_why *why)
{
    const struct exp_slurm *s = a->s;
    struct exp_words w = { 0 };
    int err;

    exp_words_split(&w, "sbatch --parsable");
    exp_words_add(&w, "--job-name=%s", s->name);
    exp_words_add(&w, "--array=0-%u", a->n_jobs - 1);
    exp_words_add(&w, "--output=%s%%a.log", s->part);
    exp_words_split(&w, s->needs);
    if (exp_words_split(&w, s->words)) {
        exp_words_release(&w);
        return exp_fail(why, -EINVAL, "SLURM: a quote is not closed: '%s'", s->words);
    }
    exp_words_add(&w, "%s", script);
    err = command(a, &w);
    exp_say(a->id, sizeof a->id, "%.*s", (int)strspn(a->output.first, "0123456789"), a->output.first);
    if (err || !*a->id)
        return exp_fail(why, -EIO, "sbatch submits no job: %s", *a->error ? a->error : a->output.first);
    exp_progress_note(s->progress, "Slurm job %s: logs are %s*.log", a->id, s->part);
    return 0;
}

/* Asks squeue for the number of jobs left. Slurm forgets jobs that ended minutes ago, and a controller may restart. */
static int ask(struct array *a, struct exp_why *why)
{
    char name[96], step[640];
    struct exp_words w = { 0 };
    double done;
    int err;

    exp_words_split(&w, "squeue -h -r -o %i -j");
    exp_words_add(&w, "%s", a->id);
    err = command(a, &w);
    exp_say(step, sizeof step, "squeue does not answer: %s", a->error);
    if (!err || strstr(a->error, "Invalid job id")) {
        a->heard = time(NULL);
        a->n_left = err ? 0 : (unsigned)a->output.n_lines;
        exp_say(step, sizeof step, "%s; %u of %u jobs running or waiting", a->s->doing, a->n_left, a->n_jobs);
    }
    done = a->s->seconds * (a->n_jobs - a->n_left) / a->n_jobs;
    exp_say(name, sizeof name, "Slurm job %s", a->id);
    exp_progress_step(a->s->progress, a->s->work, done - a->reported);
    exp_progress_begin(a->s->progress, a->s->work, name, step);
    a->reported = done;
    if (time(NULL) - a->heard < PATIENCE_S)
        return 0;
    return exp_fail(why, -ETIMEDOUT, "for %d minutes, %s; job %s may go on: when it has ended, run this again",
                    PATIENCE_S / 60, step, a->id);
}

/* Cancels the jobs, also when the program is ended. */
static void cancel(void *array)
{
    struct array *a = array;
    char name[] = "scancel", *argv[] = { name, a->id, NULL };
    pid_t pid;

    if (*a->id && !posix_spawnp(&pid, name, NULL, NULL, argv, environ))
        waitpid(pid, NULL, 0);
}

/* Waits for the end of all jobs. */
static int wait_for_jobs(struct array *a, struct exp_why *why)
{
    int err;

    while (!(err = ask(a, why)) && a->n_left && !exp_interrupted()) {
        for (int i = 0; i < 10 && !exp_interrupted(); i++)
            nanosleep(&(const struct timespec){ .tv_nsec = 100000000 }, NULL);
    }
    if (!exp_interrupted())
        return err;
    cancel(a);
    return exp_fail(why, -EINTR, "interrupted; job %s was cancelled, what is done is kept", a->id);
}

/* Removes a file of a job. Returns whether the file was there. */
static bool take(const struct exp_slurm *s, unsigned job, const char *suffix)
{
    char *path = exp_format("%s%u%s", s->part, job, suffix);
    const bool is_there = !unlink(path);

    free(path);
    return is_there;
}

/* Names a job without success, and the last line of the job's log. */
static int complain(const struct array *a, unsigned job, struct exp_why *why)
{
    char *path = exp_format("%s%u.log", a->s->part, job), *log = NULL;
    const char *last = NULL;
    size_t bytes = 0;

    exp_text_read(&log, &bytes, path, NULL);
    while (bytes && log[bytes - 1] == '\n')
        log[--bytes] = '\0';
    if (bytes)
        last = strrchr(log, '\n') ? strrchr(log, '\n') + 1 : log;
    exp_fail(why, -ECHILD, "job %s_%u failed, was cancelled, or ran out of time: %s; see %s; run it again", a->id, job,
             last ? last : "it wrote nothing", path);
    free(path);
    free(log);
    return -ECHILD;
}

/* Submits the jobs, waits for the end, and looks for the sign of each job's success. */
static int run(struct array *a, const char *script, struct exp_why *why)
{
    int err;

    for (unsigned i = 0; i < a->n_jobs; i++) {
        take(a->s, i, ".done");
        take(a->s, i, ".log");
    }
    err = submit(a, script, why);
    unlink(script); /* Slurm has a copy */
    if (!err)
        err = wait_for_jobs(a, why);
    for (unsigned i = 0; i < a->n_jobs && !err; i++)
        err = take(a->s, i, ".done") ? 0 : complain(a, i, why);
    return err;
}

int exp_slurm_run(const struct exp_slurm *s, struct exp_why *why)
{
    const unsigned n = s->n_shares ? s->n_shares : 1;
    struct array a = { .s = s, .n_jobs = n, .n_left = n, .heard = time(NULL) };
    struct exp_guard guard = { .undo = cancel, .ctx = &a };
    char *script;
    int err;

    if (strpbrk(s->part, "\\%"))
        return exp_fail(why, -EINVAL, "LAUNCHER=slurm: Slurm's logs cannot be called '%s0.log'", s->part);
    script = exp_format("%sjob.%ld", s->part, (long)getpid());
    err = write_script(s, script, why);
    exp_guard_begin(&guard, NULL, NULL);
    if (!err)
        err = run(&a, script, why);
    exp_guard_end(&guard, NULL, NULL);
    free(script);
    return err;
}
