/*
 * Runs gnuplot on one script to draw one file.
 *
 * Variables are handed over on the command line, so scripts are constant text. The file is drawn under a temporary name
 * and renamed when it is complete. A script that has nothing to draw prints one line to standard error and leaves by
 * `exit status 77`.
 */
#ifndef EXPERIMENTS_BASE_PLOT_H
#define EXPERIMENTS_BASE_PLOT_H

#include <stddef.h>

#include "experiments/base/error.h"

enum { EXP_PLOT_LIMIT_S = 120 }; /* what one file gets: the slowest figures take two or three seconds */

struct exp_plot_variable {
    const char *name;  /* a gnuplot identifier */
    const char *value; /* becomes a string variable; control characters become blanks */
};

/*
 * Draws output (its name must end in ".png" or ".svg"). The script also gets the variables `output` (what to write) and
 * `format` ("png" or "svg"). Returns 0, or with one line in why:
 *   -ENOENT   gnuplot is not installed
 *   -ENODATA  the script has nothing to draw; why is its own line
 *   -EIO      gnuplot failed, or wrote less than a whole file; why is gnuplot's last message
 *   -EINTR    the program is interrupted, or gnuplot was ended by a signal
 *   -ETIMEDOUT  gnuplot took longer than limit_s seconds and was killed
 *   -EINVAL   another kind of file; -errno of starting a program, of renaming
 */
int exp_plot_draw(const char *script, const char *output, const struct exp_plot_variable *variable, size_t n_variables,
                  unsigned limit_s, struct exp_why *why);

/*
 * Returns where a figure's script is: <scripts_dir>/<figure>.gp, or the folder of a question beside it, if that has it.
 */
char *exp_plot_script_path(const char *scripts_dir, const char *figure);

/*
 * Figures drawn with the same variables: <figure>.gp (exp_plot_script_path) draws <out_dir>/<figure>.png and .svg from
 * the tables in data_dir that its head names.
 */
struct exp_plot_figures {
    const char *scripts_dir, *data_dir, *out_dir;
    const char *const *figure;
    size_t n_figures;
    const struct exp_plot_variable *variable;
    size_t n_variables;
};

/*
 * Told about each file: err as exp_plot_draw; why is a line, or "" if it was drawn. A figure that is not even begun is
 * told about once, without the format in the file's name.
 */
typedef void (*exp_plot_report_fn)(void *ctx, const char *file, int err, const char *why);

/*
 * Draws them all, each within EXP_PLOT_LIMIT_S, until the program is interrupted. A figure without data (-ENODATA) is
 * no failure: it is not drawn. report may be NULL. Returns 0; the first -errno, after having tried the others; -ENOENT
 * or -ETIMEDOUT at once if gnuplot is missing or hangs; why gets its line.
 */
int exp_plot_figures(const struct exp_plot_figures *f, exp_plot_report_fn report, void *ctx, struct exp_why *why);

/*
 * A recipe says what a result folder's figures are drawn with. It is kept beside the tables in figures.txt, so that
 * they can be drawn again from the folder alone:
 *
 *     # a comment
 *     figure: miss_rates_model
 *     machine: clx4208: Intel Xeon Silver 4208
 *
 * A line `figure` for each figure, and one for each variable of their scripts; titles and colours may be edited. The
 * variable `figures`, the folder of the scripts, is not kept: results that somebody sent must not bring scripts along.
 */

#define EXP_PLOT_RECIPE_FILE "figures.txt"
#define EXP_PLOT_SCRIPTS_VARIABLE "figures"

struct exp_plot_recipe {
    struct exp_plot_figures figures; /* points into what follows */
    char *text;
    const char **figure;
    struct exp_plot_variable *variable;
};

/* Writes figures.txt into f->out_dir. Returns 0, or -errno with one line in why. */
int exp_plot_recipe_write(const struct exp_plot_figures *f, struct exp_why *why);

/*
 * Reads the figures.txt of a folder; scripts_dir becomes the variable `figures`. Both paths must outlive r. Returns 0,
 * or with one line in why: -errno of reading; -EFBIG for more than 1 MiB; -EINVAL for a line that is malformed.
 */
int exp_plot_recipe_read(struct exp_plot_recipe *r, const char *folder, const char *scripts_dir, struct exp_why *why);

void exp_plot_recipe_release(struct exp_plot_recipe *r); /* one that was not read is fine */

/* Keeps how the figures are drawn, then draws them. Returns as exp_plot_figures. */
int exp_plot_recipe_draw(const struct exp_plot_figures *f, exp_plot_report_fn report, void *ctx, struct exp_why *why);

#endif
