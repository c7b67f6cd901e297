/*
 * Reads what a figure's script says that it draws, and decides for every figure whether there is any of it.
 *
 * The comments at the head of a script name its tables, which lie in one folder:
 *
 *     # draws layers.csv: simulated_l1_miss_percent simulated_l2_miss_percent of algo: base sconv_is sconv_ws
 *     # hint CLASSES=3c makes some
 *     # reads model.csv
 *
 * `draws` asks for a number in one of these columns, in any row, or in any row where the column after `of` is one of
 * those values. $name stands for the words of that variable, in either list. All `draws` lines must be met. `hint` is
 * added in parentheses to the reason of the `draws` line before it. `reads` names a table that is used if it is there.
 * Each table reaches the script as a variable named after it, such as layers_csv: the path of a copy with tabs and
 * without quotes, because gnuplot 5.4 cuts a quoted field at its first comma; "" if there is no such table.
 *
 *     # slots layers.csv: layer_index layer $shape_columns
 *
 * reads a table whose rows are of things that a column numbers from 1 on and another one names, and gives each thing a
 * slot along an axis, in the order of the rows. If there are more than EXP_PLOT_MOST_SLOTS things, those share one that
 * agree in all of the other columns. The script gets lists of words: slot_of has each number's slot (0: no such thing),
 * slot_things how many share each slot, slot_names what each is called, "conv1 ×3" if three do, after the first.
 */
#ifndef EXPERIMENTS_BASE_PLOT_DATA_H
#define EXPERIMENTS_BASE_PLOT_DATA_H

#include "experiments/base/plot.h"

enum { EXP_PLOT_MAX_TABLES = 8, EXP_PLOT_N_LISTS = 3, EXP_PLOT_MOST_SLOTS = 60 };

struct exp_plot_data {
    char *path[EXP_PLOT_MAX_TABLES]; /* of the copies; "" where there is no table */
    char name[EXP_PLOT_MAX_TABLES][48];
    char *list[EXP_PLOT_N_LISTS]; /* of the slots; NULL: none are asked for */
    struct exp_plot_variable variable[EXP_PLOT_MAX_TABLES + EXP_PLOT_N_LISTS];
    size_t n_tables, n_variables;
};

/* Names the script that is run, and its variables. */
struct exp_plot_script {
    const char *path;
    const struct exp_plot_variable *variable;
    size_t n_variables;
};

/*
 * Reads the head of a script and copies its tables from data_dir to out_dir. Returns 0; -ENODATA if there is nothing to
 * draw, with the reason; -errno of reading or writing, and -EINVAL for a line that is malformed, with one line in why.
 * Whatever it returns, exp_plot_data_close() removes the copies.
 */
int exp_plot_data_open(struct exp_plot_data *d, const struct exp_plot_script *script, const char *data_dir,
                       const char *out_dir, struct exp_why *why);

void exp_plot_data_close(struct exp_plot_data *d);

#endif
