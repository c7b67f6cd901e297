/*
 * Simulated beside measured numbers, by equal definitions: a point per layer and algorithm, and the distance of both
 * over many points. All rates have one denominator: shares are of the measured loads, simulated or not.
 */
#ifndef EXPERIMENTS_SHOW_AGREEMENT_H
#define EXPERIMENTS_SHOW_AGREEMENT_H

#include <stddef.h>
#include <stdio.h>

#include "experiments/base/record.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/replay/quantity.h"

/* The two simulations: the paper's view, LRU caches that fetch on demand; and the machine of the file. */
enum exp_view { EXP_CACHES_ALONE, EXP_AS_MACHINE, EXP_N_VIEWS };

const char *exp_view_name(enum exp_view v);  /* in columns: "caches_alone", "as_machine" */
const char *exp_view_label(enum exp_view v); /* for people */

struct exp_point {
    const char *model;
    const struct exp_layer *layer;
    const struct exp_algo *algo;
    char why_not[400];                                 /* not comparable; "": it is */
    struct value measured[EXP_MAX_QUANTITIES];         /* reasons are owned by whoever counted */
    double simulated[EXP_N_VIEWS][EXP_MAX_QUANTITIES]; /* NaN: not simulated */
};

struct exp_points {
    struct exp_point *point;
    size_t n;
};

/* Appends an empty point of a case; the pointer is valid until the next call. */
struct exp_point *exp_points_add(struct exp_points *p, const struct exp_experiment *e, const struct exp_case *c);
void exp_points_release(struct exp_points *p);

/* Fills a point with the counts of a case's replays. */
void exp_point_simulate(struct exp_point *point, const struct exp_setup *setup, const struct exp_case *c);

/* Selects points by model and by algorithm; NULL: all. */
struct exp_selection {
    const char *model, *algo;
};

struct exp_agreement {
    size_t n;                   /* points with both numbers; 0: the members below mean nothing */
    double measured, simulated; /* sums over the points */
    double percent;             /* of the sums: simulated / measured, less 100 % */
    double share_error;         /* of the sums: (simulated - measured) / measured loads, in percentage points */
    /*
     * Of the points' errors in percent: the median of the sizes, and the middle 80 %. NaN without a point that measured
     * more than 0.
     */
    double median_size, p10, median, p90;
};

/* Sums up points and their errors. */
struct exp_agreement exp_agreement_of(const struct exp_points *p, const struct exp_selection *of, size_t q,
                                      enum exp_view v);

/* Base's count over an algorithm's: of the sums over layers with both counts, and ranks over the layers' ratios. */
struct exp_agreement_ratio {
    size_t n;
    double measured, simulated;
    double rank_correlation; /* Spearman's, of the layers' ratios; NaN below three layers or if all are equal */
};

struct exp_agreement_ratio exp_agreement_ratio_of(const struct exp_points *p, const struct exp_selection *of, size_t q,
                                                  enum exp_view v);

/*
 * Simulated beside measured as tables, in every experiment with counters and in validations: simulated_vs_measured.csv,
 * a row per layer, algorithm and quantity; agreement.csv, the distances.
 */
struct exp_agreement_report {
    const struct exp_points *points;
    const char *const *model; /* [n_models], in the order of the points */
    size_t n_models;
    const char *what; /* one line: the counters and the replay */
};

/* Returns 0, or -errno with a line in why. */
int exp_agreement_write(const struct exp_agreement_report *r, const struct exp_outdir *dir, struct exp_why *why);

/* Prints the table for people: all models, each algorithm, on the machine of the file. */
void exp_agreement_print(const struct exp_agreement_report *r, FILE *out);

extern const struct rec_table exp_points_table, exp_agreement_table;

#endif
