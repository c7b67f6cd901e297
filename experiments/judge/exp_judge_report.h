/*
 * Writes what `make judge` leaves: CSV files and a table on the terminal.
 *
 *   layers.csv    one row per layer: all schedules by every yardstick, the regret of CSA's choice, the estimate
 *   models.csv    one row per model, and one for all: sums, how often the choice was right, published numbers beside
 *   ratios.csv    each schedule over the first one by each yardstick, sorted: for the figure
 *   speedups.csv  estimated speed-ups over Base, sorted: for the figure
 */
#ifndef EXPERIMENTS_EXP_JUDGE_REPORT_H
#define EXPERIMENTS_EXP_JUDGE_REPORT_H

#include <stdio.h>

#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/judge/exp_judge.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/setup/exp_published.h"

struct exp_judge_model {
    const char *name; /* of the layer table; "all" */
    struct exp_judge_total total;
    double speedup, issue_speedup; /* estimated: sums of cycles, Base over CSA's choices; "all": geometric means */
    size_t first_verdict, n_verdicts;
    struct exp_judge_clock clock;
    char why_not_timed[256]; /* why some or all layers lack times; "" */
};

struct exp_judge_report {
    const char *experiments_dir;
    const struct exp_outdir *dir;
    const struct sim_machine *machine;
    const char *arch;            /* "x86", "P10" or "": whose published numbers to show */
    bool has_whole_models;       /* no layers were left out: the paper's numbers about models compare */
    bool has_whole_set;          /* nor models: those about all of them, too */
    const char *why_no_estimate; /* NULL: there is one */
    const char *why_no_base;     /* NULL: Base was replayed */
    struct exp_published published;
    struct exp_csv *layers;
    struct exp_judge_model *model; /* [n_models], the last one "all" once finished */
    size_t n_models, max_models;
    struct exp_judgement *verdict; /* [n_verdicts]; their layers live as long as the models do */
    size_t n_verdicts, max_verdicts;
};

/*
 * Opens layers.csv; what is one line that says how everything was made. machine, arch and reasons must outlive r. All
 * functions that fail return -errno with one line in why.
 */
int exp_judge_report_open(struct exp_judge_report *r, const struct exp_outdir *dir, const char *experiments_dir,
                          const char *what, struct exp_why *why);

/*
 * Judges all layers of a replayed experiment and writes their rows, with the times that `make experiment` left in
 * times_path, its layers.csv, if they are the machine's; times_path NULL: there are none, for a reason.
 */
int exp_judge_report_model(struct exp_judge_report *r, const struct exp_experiment *e, enum exp_cache_state caches,
                           const char *times_path, const char *why_no_times, struct exp_why *why);

/* Adds the model "all", writes the other files, closes layers.csv. */
int exp_judge_report_finish(struct exp_judge_report *r, const char *what, struct exp_why *why);

/* Prints the closing tables. */
void exp_judge_report_print(const struct exp_judge_report *r, FILE *out);

/* Prints the answer, in sentences: for the terminal's last lines, and for verdict.txt. Returns 0 or -ENOMEM. */
int exp_judge_report_answer(const struct exp_judge_report *r, FILE *out);

/* Prints what the columns mean, as Markdown tables. */
void exp_judge_report_document(FILE *out);

void exp_judge_report_release(struct exp_judge_report *r); /* a half-built report is fine */

#endif
