/*
 * Runs gnuplot on one script to draw one file.
 *
 * Variables are passed on the command line, so scripts are constant text. The file is drawn under a temporary name and
 * renamed when complete. A script with nothing to draw prints one line to standard error and ends by `exit status 77`.
 */
#ifndef EXPERIMENTS_BASE_PLOT_H
#define EXPERIMENTS_BASE_PLOT_H

#include <stddef.h>

#include "experiments/base/error.h"

enum { EXP_PLOT_LIMIT_S = 120 }; /* limit of one file: the slowest figures take two or three seconds */

struct exp_plot_variable {
    const char *name;  /* a gnuplot identifier */
    const char *value; /* becomes a string variable; control characters become blanks */
};

/*
 * Draws output (a name that ends in ".png" or ".svg"). The script also gets the variables `output` (the path) and
 * `format` ("png" or "svg"). Returns 0, or with one line in why:
 *   -ENOENT   gnuplot is not installed
 *   -ENODATA  the script has nothing to draw; why is the script's own line
 *   -EIO      gnuplot failed, or wrote less than a whole file; why is gnuplot's last message
 *   -EINTR    the program is interrupted, or gnuplot was ended by a signal
 *   -ETIMEDOUT  gnuplot took longer than limit_s seconds and was killed
 *   -EINVAL   another kind of file; -errno of starting a program, of renaming
 */
int exp_plot_draw(const char *script, const char *output, const struct exp_plot_variable *variable, size_t n_variables,
                  unsigned limit_s, struct exp_why *why);

/*
 * Returns the path of a figure's script: <scripts_dir>/<figure>.gp, or the script in the folder of a question beside
 * scripts_dir.
 */
char *exp_plot_script_path(const char *scripts_dir, const char *figure);

/*
 * Figures with common variables: <figure>.gp (exp_plot_script_path) draws <out_dir>/<figure>.png and .svg from the
 * tables of data_dir that the script's head names.
 */
struct exp_plot_figures {
    const char *scripts_dir, *data_dir, *out_dir;
    const char *const *figure;
    size_t n_figures;
    const struct exp_plot_variable *variable;
    size_t n_variables;
};

/*
 * Receives the outcome of each file: err as exp_plot_draw; why is a line, or "" for a drawn file. A figure that is not
 * begun is reported once, without the format in the file's name.
 */
typedef void (*exp_plot_report_fn)(void *ctx, const char *file, int err, const char *why);

/*
 * Draws all figures, each within EXP_PLOT_LIMIT_S, until the program is interrupted: as many figures at a time as the
 * computer has processors. A figure without data (-ENODATA) is not drawn, and is no failure. report may be NULL; report is
 * called at the end, in the order of the figures. Returns 0; the first -errno, after trying all figures; -ENOENT or
 * -ETIMEDOUT at once if gnuplot is missing or hangs; why gets one line.
 */
int exp_plot_figures(const struct exp_plot_figures *f, exp_plot_report_fn report, void *ctx, struct exp_why *why);

/*
 * A recipe names the figures of a result folder and their variables. figures.txt keeps the recipe beside the tables, so
 * the figures can be drawn again from the folder alone:
 *
 *     # a comment
 *     figure: miss_rates_model
 *     machine: clx4208: Intel Xeon Silver 4208
 *
 * One line `figure` for each figure, and one line for each variable of the scripts; titles and colours may be edited.
 * The variable `figures`, the folder of the scripts, is not kept: foreign results must not bring scripts along.
 */

#define EXP_PLOT_RECIPE_FILE "figures.txt"
#define EXP_PLOT_SCRIPTS_VARIABLE "figures"

struct exp_plot_recipe {
    struct exp_plot_figures figures; /* points into the members below */
    char *text;
    const char **figure;
    struct exp_plot_variable *variable;
};

/* Writes figures.txt into f->out_dir. Returns 0, or -errno with one line in why. */
int exp_plot_recipe_write(const struct exp_plot_figures *f, struct exp_why *why);

/*
 * Reads the figures.txt of a folder; scripts_dir becomes the variable `figures`. Both paths must outlive r. Returns 0,
 * or with one line in why: -errno of reading; -EFBIG for more than 1 MiB; -EINVAL for a malformed line.
 */
int exp_plot_recipe_read(struct exp_plot_recipe *r, const char *folder, const char *scripts_dir, struct exp_why *why);

void exp_plot_recipe_release(struct exp_plot_recipe *r); /* an unread recipe is fine */

/* Writes the recipe, then draws the figures. Returns as exp_plot_figures. */
int exp_plot_recipe_draw(const struct exp_plot_figures *f, exp_plot_report_fn report, void *ctx, struct exp_why *why);

#endif
