#include "experiments/base/slurm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/base/text.h"

/* ---- one job ---- */

enum { COMMAND_S = 120, TEXT_BYTES = 512, PATIENCE_S = 600 };

static const struct timespec poll_interval = { .tv_sec = 1 };

/* Runs a command of Slurm. answer gets the last line of standard error. */
static int command(const struct exp_words *words, struct exp_process_output *output, char *answer, size_t bytes,
                   bool (*interrupted)(void))
{
    int status;
    int err = exp_process_ask((const char *const *)words->word, COMMAND_S, interrupted, &status, output, answer, bytes);
    if (err && !*answer)
        exp_say(answer, bytes, "%s: %s", words->word[0], strerror(-err));
    return err ? err : WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

/* ---- the script ---- */

/* Prints a word in quotes for sh. */
static void print_quoted(const char *word, FILE *out)
{
    fputc('\'', out);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    }
    fputc('\'', out);
}

/* Prints the call of this program: on a share, or on all tasks. */
static void print_call(const struct exp_slurm_job *j, const char *program, FILE *out)
{
    print_quoted(program, out);
    for (char *const *a = j->request->argv; *a; a++) {
        fputc(' ', out);
        print_quoted(*a, out);
    }
    if (j->request->has_threads)
        fprintf(out, " \"JOBS=${SLURM_CPUS_ON_NODE:-1}\"");
    if (j->request->n_shares)
        fprintf(out, " \"SHARE=$part/%u\"", j->request->n_shares);
    fprintf(out, " LAUNCHER=here \"STORE=$store\" KNOWN=");
    print_quoted(j->store, out);
    fputc('\n', out);
}

/* Prints the script of a job. The script prints host and CPU, and leaves the exit status in a file. */
static int print_script(const struct exp_slurm_job *j, const char *program, const char *folder, FILE *out)
{
    fprintf(out, "#!/bin/sh\npart=${SLURM_ARRAY_TASK_ID:-$SLURM_JOB_ID}\nparts=");
    print_quoted(j->parts, out);
    fprintf(out, "\nstore=$parts/$part.sqlite\ncd ");
    print_quoted(folder, out);
    fprintf(out, " || exit 1\necho \"host $(hostname), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)\"\n");
    print_call(j, program, out);
    fprintf(out, "status=$?\necho $status >\"$parts/$part.status\"\nexit $status\n");
    return ferror(out) ? -EIO : 0;
}

/* Writes the script into a file of its own: several processes may submit at once. */
static int write_script(const struct exp_slurm_job *j, char *path, struct exp_why *why)
{
    char program[1024] = "", folder[1024] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    int fd = length > 0 && getcwd(folder, sizeof folder) ? mkstemp(path) : -1;
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    int err = out ? print_script(j, program, folder, out) : -errno;

    if (out && fclose(out) && !err)
        err = -errno;
    return err ? exp_fail(why, err, "cannot write '%s': %s", path, strerror(-err)) : 0;
}

/* ---- jobs ---- */

static int check(const struct exp_slurm_job *j, struct exp_why *why)
{
    struct exp_words words = { 0 };
    int err = exp_words_split(&words, j->request->words);

    exp_words_release(&words);
    if (err)
        return exp_fail(why, err, "SLURM: a quote is not closed: '%s'", j->request->words);
    if (strchr(j->parts, '\\'))
        return exp_fail(why, -EINVAL, "LAUNCHER=slurm: the names of Slurm's logs cannot have a backslash: '%s'",
                        j->parts);
    return 0;
}

int exp_slurm_job_prepare(struct exp_slurm_job *j, const struct exp_slurm_request *r, const char *store,
                          struct exp_why *why)
{
    int err;

    *j = (struct exp_slurm_job){ .request = r, .store = store, .patience_s = PATIENCE_S };
    exp_say(j->parts, sizeof j->parts, "%s.parts", store);
    err = check(j, why);
    if (!err && mkdir(j->parts, 0777) && errno != EEXIST)
        err = exp_fail(why, -errno, "cannot make the folder '%s': %s", j->parts, strerror(errno));
    return err;
}

/* Adds an option that names a log. Slurm replaces % and the next character, and takes %% for a %. */
static void add_log(struct exp_words *w, const char *option, const char *folder, const char *pattern)
{
    char path[2 * sizeof((struct exp_slurm_job *)0)->parts], *out = path;

    for (; *folder; folder++) {
        if (*folder == '%')
            *out++ = '%';
        *out++ = *folder;
    }
    *out = '\0';
    exp_words_add(w, "%s=%s/%s", option, path, pattern);
}

static void list_submission(struct exp_words *w, const struct exp_slurm_job *j, const char *script)
{
    const struct exp_slurm_request *r = j->request;

    exp_words_add(w, "sbatch");
    exp_words_add(w, "--parsable");
    exp_words_add(w, "--job-name=%s", r->name);
    if (r->n_shares) {
        exp_words_add(w, "--array=0-%u", r->n_shares - 1);
        add_log(w, "--output", j->parts, "%a.log");
    } else {
        add_log(w, "--output", j->parts, "%j.log");
        add_log(w, "--error", j->parts, "%j.err");
    }
    exp_words_split(w, r->needs);
    exp_words_split(w, r->words);
    exp_words_add(w, "--");
    exp_words_add(w, "%s", script);
}

static int call_sbatch(struct exp_slurm_job *j, const char *script, struct exp_why *why)
{
    struct exp_process_output output;
    struct exp_words words = { 0 };
    char answer[TEXT_BYTES];
    int err;

    list_submission(&words, j, script);
    err = command(&words, &output, answer, sizeof answer, exp_interrupted);
    exp_words_release(&words);
    if (err == -ENOENT)
        return exp_fail(why, err, "LAUNCHER=slurm: this computer has no sbatch");
    if (err)
        return exp_fail(why, -EIO, "sbatch submits no job: %s", answer);
    exp_say(j->id, sizeof j->id, "%.*s", (int)strspn(output.first, "0123456789"), output.first);
    return *j->id ? 0 : exp_fail(why, -EIO, "sbatch names no job, but '%s'", output.first);
}

/*
 * Submits. Returns 0, or with one line in why: -ENOENT without Slurm; -EIO if sbatch refuses, with sbatch's message;
 * another -errno of writing the script; an empty folder of parts is then removed.
 */
static int submit_job(struct exp_slurm_job *j, struct exp_why *why)
{
    char *script = exp_format("%s/job-XXXXXX", j->parts);
    int err = write_script(j, script, why);

    if (!err) {
        err = call_sbatch(j, script, why);
        j->n_left = j->request->n_shares ? j->request->n_shares : 1;
        unlink(script); /* Slurm has a copy */
    }
    if (err)
        rmdir(j->parts); /* only an empty folder goes */
    free(script);
    return err;
}

/* ---- waiting ---- */

/* Notes a missing answer of squeue. */
static int note_silence(struct exp_slurm_job *j, const char *answer, char *note, size_t note_bytes, struct exp_why *why)
{
    const double now = (double)ctr_now_ns() * 1e-9;

    if (!j->silent_since) {
        j->silent_since = now;
        exp_say(note, note_bytes, "squeue does not answer (%s); it is asked again for %.0f minutes", answer,
                j->patience_s / 60);
    }
    if (now - j->silent_since < j->patience_s)
        return 0;
    return exp_fail(why, -EIO,
                    "squeue has not answered for %.0f minutes: %s; job %s may go on, and keeps what it does; when it "
                    "has ended (scancel %s ends it), run this again",
                    j->patience_s / 60, answer, j->id, j->id);
}

/* Asks for the number of jobs left. Slurm forgets jobs that ended minutes ago. */
static int ask_squeue(const struct exp_slurm_job *j, size_t *n_left, char *answer, size_t bytes)
{
    struct exp_process_output output;
    struct exp_words words = { 0 };
    int err;

    exp_words_split(&words, "squeue -h -r -o %i -j");
    exp_words_add(&words, "%s", j->id);
    err = command(&words, &output, answer, bytes, exp_interrupted);
    exp_words_release(&words);
    *n_left = err ? 0 : output.n_lines;
    return err && strstr(answer, "Invalid job id") ? 0 : err;
}

int exp_slurm_job_ask(struct exp_slurm_job *j, size_t *n_left, char *note, size_t note_bytes, struct exp_why *why)
{
    char answer[TEXT_BYTES];
    size_t n;
    int err = ask_squeue(j, &n, answer, sizeof answer);

    *note = '\0';
    *n_left = j->n_left;
    if (err == -EINTR)
        return 0; /* the caller sees the interruption, too */
    if (err)
        return note_silence(j, answer, note, note_bytes, why);
    if (j->silent_since)
        exp_say(note, note_bytes, "squeue answers again");
    j->silent_since = 0;
    *n_left = j->n_left = n;
    return 0;
}

/* Cancels the jobs. Returns -EINTR with one line in why. */
static int interrupt_job(const struct exp_slurm_job *j, struct exp_why *why)
{
    struct exp_words words = { 0 };
    char answer[TEXT_BYTES];
    int err;

    exp_words_add(&words, "scancel");
    exp_words_add(&words, "%s", j->id);
    err = command(&words, NULL, answer, sizeof answer, NULL);
    exp_words_release(&words);
    if (err)
        return exp_fail(why, -EINTR, "interrupted; job %s could not be cancelled: %s", j->id, answer);
    return exp_fail(why, -EINTR, "interrupted; job %s was cancelled, what is done is kept", j->id);
}

struct cluster {
    const struct exp_slurm *s;
    int64_t *id; /* of the tasks in the store */
    size_t n_tasks;
    struct exp_slurm_job job;
    struct exp_store_states states;
    double reported; /* seconds */
    struct exp_why *why;
};

/* ---- parts ---- */

/* Merges the parts written until now. */
static int merge(struct cluster *c)
{
    int err = 0;

    for (unsigned i = 0; i < c->s->request.n_shares && !err; i++) {
        char *path = exp_format("%s/%u.sqlite", c->job.parts, i);
        size_t n;

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
            nanosleep(&poll_interval, NULL);
        if (exp_interrupted())
            return interrupt_job(&c->job, c->why);
    } while (!err && left);
    return err;
}

/* ---- the whole ---- */

/* Names a missing task and the log of the task's share. */
static int complain(struct cluster *c)
{
    size_t n = c->n_tasks - c->states.n_done, job = 0;

    if (!n)
        return 0;
    while (exp_tasks_first(c->s->tasks, job + 1) <= c->states.first_not_done)
        job++;
    return exp_fail(
        c->why, -EIO,
        "%zu of %zu %s have no result (%zu failed), such as %s; %s/%zu.log may say why; run it again to try them again",
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
    c->id = exp_new(c->n_tasks, sizeof *c->id);
    return exp_store_add(c->s->store, c->s->tasks->task, c->n_tasks, c->id, c->why);
}

int exp_slurm_run(const struct exp_slurm *s, struct exp_why *why)
{
    struct cluster c = { .s = s, .n_tasks = exp_tasks_first(s->tasks, s->tasks->n_jobs), .why = why };
    int err = prepare(&c);

    if (!err)
        err = merge(&c); /* parts of an earlier run that was killed */
    if (!err && c.states.n_done < c.n_tasks) {
        err = submit_job(&c.job, why);
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

/* A file that the job writes, and the length already copied. */
struct tail {
    const char *suffix;
    FILE *to;
    long at;
};

struct whole {
    struct exp_slurm_job job;
    struct tail log, err;
};

/* Returns the path of a file of the job, from malloc. */
static char *path_of(const struct whole *w, const char *suffix)
{
    return exp_format("%s/%s.%s", w->job.parts, w->job.id, suffix);
}

/* Copies the new text of a file. */
static void follow(const struct whole *w, struct tail *t)
{
    char *path = path_of(w, t->suffix), text[4096];
    FILE *in = fopen(path, "r");
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
            return interrupt_job(&w->job, why);
        if (!err && left)
            nanosleep(&poll_interval, NULL);
    } while (!err && left);
    return err;
}

/* Says how the job ended, from the exit status in the job's file. */
static int judge(const struct whole *w, struct exp_why *why)
{
    char *path = path_of(w, "status");
    FILE *in = fopen(path, "r");
    int status, n = in ? fscanf(in, "%d", &status) : 0;

    free(path);
    if (in)
        fclose(in);
    if (n != 1)
        return exp_fail(why, -EIO,
                        "job %s did not get to its end: it was cancelled, ran out of time, or its node failed; its log "
                        "is %s/%s.err; run it again",
                        w->job.id, w->job.parts, w->job.id);
    return status
               ? exp_fail(why, -EIO, "job %s failed with exit status %d: what it says stands above, and in %s/%s.err",
                          w->job.id, status, w->job.parts, w->job.id)
               : 0;
}

/* Merges the job's results into the store. */
static int merge_part(const struct whole *w, struct exp_store *store, struct exp_why *why)
{
    char *path = path_of(w, "sqlite");
    size_t n;
    int err = 0;

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
        err = submit_job(&w.job, why);
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
