/* The files of a comparison, a module each: their columns, and what writes them. Internal to exp_peers_report.h. */
#ifndef EXPERIMENTS_EXP_PEERS_FILES_H
#define EXPERIMENTS_EXP_PEERS_FILES_H

#include "experiments/base/exp_error.h"
#include "experiments/peers/exp_peers_report.h"
#include "experiments/record/record.h"

extern const struct rec_table exp_peers_layers_table, exp_peers_samples_table, exp_peers_model_table,
    exp_peers_phases_table, exp_peers_speedups_table, exp_peers_pointwise_table;

/* Writes the rows of one layer, method and state of the caches to layers.csv and samples.csv, which are open. */
void exp_peers_put_layer(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
                         const struct exp_peers_row *row, enum exp_peers_cache c, enum exp_peer m);
void exp_peers_put_samples(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
                           enum exp_peers_cache c, enum exp_peer m);

/* Write a whole file about all models. Return 0 or -errno with one line in why. */
int exp_peers_write_totals(struct exp_peers_report *r, const char *what, struct exp_why *why);
int exp_peers_write_phases(struct exp_peers_report *r, const char *what, struct exp_why *why);
int exp_peers_write_curves(struct exp_peers_report *r, bool only_pointwise, const char *what, struct exp_why *why);

/* Describes the sweeps of a model: "63 sweeps: the ratios stand; quiet: ...". */
void exp_peers_describe_sweeps(const struct exp_peers_model *m, char *text, size_t bytes);

/* Makes a layer's row. Times of a model that was disturbed are no times. */
struct exp_peers_row exp_peers_make_row(const struct exp_peers_layer *l, size_t model,
                                        const struct exp_peers_model *of);

/* Decides by the ruler whether a model's times are the core's own: fills ruled and why_disturbed. */
void exp_peers_model_judge(struct exp_peers_model *model, const struct exp_peers *p);

double exp_peers_percent(uint64_t part, uint64_t whole);

/*
 * Returns how long Base's calls took in as many sweeps as phases were summed over, in ns. The time of Base's steps is
 * compared with that. These are medians, as phases have no rounds to choose from.
 */
double exp_peers_base_calls_ns(const struct exp_peers_report *r, size_t model);

#endif
