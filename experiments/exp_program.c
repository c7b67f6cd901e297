#include "experiments/exp_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/exp_error.h"
#include "experiments/exp_signal.h"

void exp_program_report_figure(void *figures, const char *file, int err, const char *why)
{
    const struct exp_program_figures *f = figures;
    const char *slash = strrchr(file, '/');

    file = slash ? slash + 1 : file;
    if (!err) {
        printf("  %s/%s\n", f->dir, file);
        return;
    }
    printf("  %-36s not drawn: %s\n", file, why);
    fprintf(stderr, "%s: %s is not drawn: %s\n", f->program, file, why);
}

int exp_program_end(const char *program, int err, char *why, size_t why_bytes)
{
    if (!err && fflush(stdout))
        err = exp_fail(why, why_bytes, -errno, "cannot write to standard output: %s", strerror(errno));
    if (err)
        fprintf(stderr, "%s: %s\n", program, why);
    exp_signal_end();
    return err ? EXP_EXIT_BAD_INPUT : EXIT_SUCCESS;
}
