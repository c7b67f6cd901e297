/*
 * Reads the declarations at the head of a figure's script, and decides whether the figure has data.
 *
 * The comments at the head of a script name its tables, all in one folder:
 *
 *     # draws layers.csv: simulated_l1_miss_percent simulated_l2_miss_percent of algo: base sconv_is sconv_ws
 *     # hint CLASSES=3c makes some
 *     # reads model.csv
 *
 * `draws` asks for a number in one of the columns, in any row, or in any row where the column after `of` has one of the
 * listed values. $name stands for the words of the variable, in either list. All `draws` lines must be met. `hint` is
 * added in parentheses to the reason of the preceding `draws` line. `reads` names an optional table. Each table reaches
 * the script as a variable named after the table, such as layers_csv: the path of a copy with tabs and without quotes,
 * because gnuplot 5.4 cuts a quoted field at the first comma; "" without a table.
 *
 *     # slots layers.csv: layer_index layer $shape_columns of macs: 120
 *
 * `slots` reads a table of things: the first column numbers the things from 1 on, the second column names them. Each
 * thing gets a slot along an axis, in the order of the rows. Beyond EXP_PLOT_MOST_SLOTS things, things that agree in
 * all further columns share a slot. The script gets lists of words: slot_of has each number's slot (0: no thing),
 * slot_things the number of things in each slot, slot_names the label of each slot, "conv1 ×3" for three things, after
 * the first thing's name. `of` is optional, and limits the slots: only the 120 slots of the largest magnitude of `macs`,
 * in any row, are drawn. slots_left_out is the number of the other things; their slot is 0.
 */
#ifndef EXPERIMENTS_BASE_PLOT_DATA_H
#define EXPERIMENTS_BASE_PLOT_DATA_H

#include "experiments/base/plot.h"

enum { EXP_PLOT_MAX_TABLES = 8, EXP_PLOT_N_LISTS = 4, EXP_PLOT_MOST_SLOTS = 60 };

struct exp_plot_data {
    char *path[EXP_PLOT_MAX_TABLES]; /* of the copies; "" without a table */
    char name[EXP_PLOT_MAX_TABLES][48];
    char *list[EXP_PLOT_N_LISTS]; /* of the slots; NULL: the script asks for none */
    struct exp_plot_variable variable[EXP_PLOT_MAX_TABLES + EXP_PLOT_N_LISTS];
    size_t n_tables, n_variables;
};

/* The script to run, and its variables. */
struct exp_plot_script {
    const char *path;
    const struct exp_plot_variable *variable;
    size_t n_variables;
};

/*
 * Reads the head of a script and copies the tables from data_dir to out_dir. Returns 0; -ENODATA if there is nothing to
 * draw, with the reason; -errno of reading or writing, and -EINVAL for a malformed line, with one line in why.
 * exp_plot_data_close() removes the copies, also after an error.
 */
int exp_plot_data_open(struct exp_plot_data *d, const struct exp_plot_script *script, const char *data_dir,
                       const char *out_dir, struct exp_why *why);

void exp_plot_data_close(struct exp_plot_data *d);

#endif
