#include "experiments/store/exp_slurm_job.h"

#include <errno.h>
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

enum { COMMAND_S = 120, TEXT_BYTES = 512 };

static const struct timespec poll_interval = { .tv_sec = 1 };

/* Runs a line of sh. What it says on its standard error last is in answer. */
static int shell(const char *line, char *answer, size_t bytes, bool (*interrupted)(void))
{
    const char *const argv[] = { "sh", "-c", line, NULL };
    int status, err = exp_process_run(argv, COMMAND_S, interrupted, &status, answer, bytes);

    return err ? err : WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

/* ---- the script ---- */

/* Prints a word so that sh takes it as it is. */
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

/* Prints how this program is called: on its share, or on everything. */
static void print_call(const struct exp_slurm_job *j, const char *program, FILE *out)
{
    print_quoted(program, out);
    for (char *const *a = j->request->argv + 1; *a; a++) {
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

/* Prints what a job runs. It says on which host and CPU; its exit status is left in a file. */
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

/* Writes the script into a file of its own: others may submit at the same time. */
static int write_script(const struct exp_slurm_job *j, char *path, char *why, size_t why_bytes)
{
    char program[1024] = "", folder[1024] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    int fd = length > 0 && getcwd(folder, sizeof folder) ? mkstemp(path) : -1;
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    int err = out ? print_script(j, program, folder, out) : -errno;

    if (out && fclose(out) && !err)
        err = -errno;
    return err ? exp_fail(why, why_bytes, err, "cannot write '%s': %s", path, strerror(-err)) : 0;
}

/* ---- jobs ---- */

int exp_slurm_job_prepare(struct exp_slurm_job *j, const struct exp_slurm_request *r, const char *store, char *why,
                          size_t why_bytes)
{
    *j = (struct exp_slurm_job){ .request = r, .store = store };
    exp_say(j->parts, sizeof j->parts, "%s.parts", store);
    if (mkdir(j->parts, 0777) && errno != EEXIST)
        return exp_fail(why, why_bytes, -errno, "cannot make the folder '%s': %s", j->parts, strerror(errno));
    return 0;
}

/* Returns the line that submits a script, from malloc; NULL when out of memory. */
static char *submission(const struct exp_slurm_job *j, const char *script)
{
    const struct exp_slurm_request *r = j->request;
    char files[2200];

    if (r->n_shares)
        exp_say(files, sizeof files, "--array=0-%u --output='%s/%%a.log'", r->n_shares - 1, j->parts);
    else
        exp_say(files, sizeof files, "--output='%s/%%j.log' --error='%s/%%j.err'", j->parts, j->parts);
    return exp_format("sbatch --parsable --job-name=%s %s %s %s '%s' >&2", r->name, files, r->needs, r->words, script);
}

static int call_sbatch(struct exp_slurm_job *j, const char *line, char *why, size_t why_bytes)
{
    char answer[TEXT_BYTES];

    if (shell("command -v sbatch >/dev/null", answer, sizeof answer, exp_interrupted))
        return exp_fail(why, why_bytes, -ENOENT, "LAUNCHER=slurm: this computer has no sbatch");
    if (shell(line, answer, sizeof answer, exp_interrupted))
        return exp_fail(why, why_bytes, -EIO, "sbatch submits no job: %s", answer);
    exp_say(j->id, sizeof j->id, "%.*s", (int)strspn(answer, "0123456789"), answer);
    return 0;
}

int exp_slurm_job_submit(struct exp_slurm_job *j, char *why, size_t why_bytes)
{
    char *script = exp_format("%s/job-XXXXXX", j->parts), *line = NULL;
    int err = script ? write_script(j, script, why, why_bytes) : exp_fail(why, why_bytes, -ENOMEM, "out of memory");

    if (!err) {
        line = submission(j, script);
        err = line ? call_sbatch(j, line, why, why_bytes) : exp_fail(why, why_bytes, -ENOMEM, "out of memory");
        unlink(script); /* Slurm has a copy */
    }
    if (err)
        rmdir(j->parts); /* if it is empty */
    free(script);
    free(line);
    return err;
}

size_t exp_slurm_job_left(const struct exp_slurm_job *j)
{
    char *line = exp_format("squeue -h -r -j %s 2>/dev/null | wc -l >&2", j->id), answer[TEXT_BYTES] = "0";

    if (line)
        shell(line, answer, sizeof answer, exp_interrupted);
    free(line);
    return strtoul(answer, NULL, 10);
}

void exp_slurm_job_pause(void)
{
    nanosleep(&poll_interval, NULL);
}

int exp_slurm_job_interrupt(const struct exp_slurm_job *j, char *why, size_t why_bytes)
{
    char *line = exp_format("scancel %s", j->id), answer[TEXT_BYTES];

    if (line)
        shell(line, answer, sizeof answer, NULL);
    free(line);
    return exp_fail(why, why_bytes, -EINTR, "interrupted; job %s was cancelled, what is done is kept", j->id);
}
