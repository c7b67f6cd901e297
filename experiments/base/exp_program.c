#include "experiments/base/exp_program.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_signal.h"

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
    if (err != -ENODATA)
        fprintf(stderr, "%s: %s is not drawn: %s\n", f->program, file, why);
}

int exp_program_drawn(int drawn, struct exp_why *why)
{
    return drawn ? exp_fail(why, drawn, "the tables are complete, not all figures and pages are") : 0;
}

/*
 * Finds out whether all of standard output arrived. Lines go out one by one, and a line that could not be written is
 * lost with its reason. One more byte is tried to learn that reason.
 */
static int finish_output(void)
{
    bool has_lost = ferror(stdout);

    errno = 0;
    if (fflush(stdout) || (has_lost && putchar('\n') == EOF))
        return errno ? -errno : -EIO;
    return has_lost ? -EIO : 0;
}

int exp_program_end(const char *program, int err, struct exp_why *why)
{
    int lost = finish_output();

    if (!err && lost && lost != -EPIPE)
        err = exp_fail(why, lost, "cannot write to standard output: %s", strerror(-lost));
    if (err)
        fprintf(stderr, "%s: %s\n", program, *why->text ? why->text : strerror(-err));
    exp_signal_end();
    if (!err && lost)
        exp_signal_die(SIGPIPE); /* the reader has seen enough: nothing to complain of */
    return err ? EXP_EXIT_BAD_INPUT : EXIT_SUCCESS;
}
