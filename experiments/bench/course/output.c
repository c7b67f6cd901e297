#include "experiments/bench/course/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int exp_output_divert(struct exp_output *o, struct exp_why *why)
{
    FILE *file = tmpfile();

    *o = (struct exp_output){ .own = -1, .file = -1 };
    if (!file)
        return exp_fail(why, -errno, "no temporary file for the output: %s; MORE=1 needs none", strerror(errno));
    fflush(stdout);
    o->file = dup(fileno(file));
    o->own = dup(STDOUT_FILENO);
    fclose(file);
    if (o->file < 0 || o->own < 0 || dup2(o->file, STDOUT_FILENO) < 0) {
        const int err = -errno;

        exp_output_restore(o);
        return exp_fail(why, err, "the output cannot be kept: %s; MORE=1 shows it at once", strerror(-err));
    }
    return 0;
}

static int copy(const void *output, FILE *out)
{
    const struct exp_output *o = output;
    char bytes[1 << 14];
    off_t at = 0;
    ssize_t n;

    while ((n = pread(o->file, bytes, sizeof bytes, at)) > 0) {
        fwrite(bytes, 1, (size_t)n, out);
        at += n;
    }
    return n < 0 ? -errno : 0;
}

int exp_output_write(const struct exp_output *o, const struct exp_outdir *dir, struct exp_why *why)
{
    fflush(stdout);
    return exp_outdir_write(dir, EXP_OUTPUT_FILE, copy, o, why);
}

void exp_output_restore(struct exp_output *o)
{
    fflush(stdout);
    if (o->own >= 0) {
        dup2(o->own, STDOUT_FILENO);
        close(o->own);
    }
    if (o->file >= 0)
        close(o->file);
    *o = (struct exp_output){ .own = -1, .file = -1 };
}
