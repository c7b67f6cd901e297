/*
 * Writes what the page leaves beside itself: numbers.csv (every published number and what became of it), models.csv
 * (Table 2, Figures 10 and 11: a row per view, model and algorithm), speedups.csv (Figures 8 and 9: sorted curves).
 */
#ifndef EXPERIMENTS_EXP_PAPER_REPORT_H
#define EXPERIMENTS_EXP_PAPER_REPORT_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/paper/exp_paper_claims.h"

/* The algorithm that stands beside the paper's numbers. */
#define EXP_PAPER_ALGO "sconv_openblas"

/* Everything that was found out. */
struct exp_paper_findings {
    struct exp_published published;
    const struct exp_models *models;
    const struct exp_paper_part *part;           /* [EXP_PAPER_N_SETTINGS] */
    struct exp_paper_set set[EXP_PAPER_N_VIEWS]; /* of EXP_PAPER_ALGO */
    double share[2][EXP_MAX_MODELS];             /* the convolutions' by the paper's Table 2: x86, P10 */
    struct exp_paper_results results;
    const char *what; /* provenance, one line */
};

/*
 * Finds it out from the parts. Starts as { 0 } but for models, part and what. Returns 0 or -errno with one line in why.
 */
int exp_paper_findings_of(struct exp_paper_findings *f, const char *experiments_dir, bool has_whole_models,
                          bool has_whole_set, const struct sim_machine *x86, const struct sim_machine *p10,
                          struct exp_why *why);
void exp_paper_findings_release(struct exp_paper_findings *f);

/* A set of another algorithm. Returns 0 or -ENOMEM. */
int exp_paper_findings_set(const struct exp_paper_findings *f, const struct exp_paper_view *v, const char *algo,
                           struct exp_paper_set *s);

/* A published row's fields. */
const char *exp_paper_field(const struct exp_paper_findings *f, size_t row, size_t column);

extern const struct rec_table exp_paper_numbers_table, exp_paper_models_table, exp_paper_speedups_table;

/* Writes the tables. Returns 0 or -errno with one line in why. */
int exp_paper_report_write(const struct exp_paper_findings *f, const struct exp_outdir *dir, struct exp_why *why);

/* Prints what the columns of the files mean, in Markdown. */
void exp_paper_report_document(FILE *out);

#endif
