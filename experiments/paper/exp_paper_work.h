/*
 * Making the parts of the page: what is there already is read, what is not is timed, replayed, observed or looked up.
 */
#ifndef EXPERIMENTS_EXP_PAPER_WORK_H
#define EXPERIMENTS_EXP_PAPER_WORK_H

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_progress.h"
#include "experiments/paper/exp_paper_cases.h"
#include "experiments/setup/exp_model.h"
#include "experiments/setup/exp_options_shared.h"

/* Holds what the user asked for. */
struct exp_paper_options {
    const char *model, *layers, *counts, *results, *observer, *guest, *twin, *why_no_guest, *commit;
    unsigned timing, cache, reps, limit, clock, ruler, observe, observe_limit, jobs;
    bool asks_guest;
};

/* Returns how many rounds that is. */
struct exp_rounds exp_paper_rounds_asked(const struct exp_paper_options *o);

/* Starts as { 0 } but for the first two. Must stay where it is: setups point into themselves. */
struct exp_paper_work {
    const struct exp_paper_options *options;
    const struct exp_models *models;
    struct exp_setup setup[EXP_PAPER_N_SETTINGS]; /* of those that are timed, replayed or observed */
    bool has_setup[EXP_PAPER_N_SETTINGS];
    struct exp_paper_part part[EXP_PAPER_N_SETTINGS];
    size_t n_kept, n_made; /* parts of a model that were there, and that were made */
    struct exp_progress *progress;
    struct exp_forecast forecast;
    double seconds[EXP_N_WORKS]; /* announced */
    size_t n_timed, n_observed;  /* models that will be */
};

/*
 * Makes all parts. What was finished is kept when a later part fails or is interrupted: the next run of the same commit
 * goes on from there. Returns 0, or -errno with one line in why.
 */
int exp_paper_work(struct exp_paper_work *w, struct exp_why *why);

/*
 * Prints the CPU family of each program that would be observed, a line each. Returns 0, or -errno with one line in why.
 */
int exp_paper_print_guests(const struct exp_paper_options *o, FILE *out, struct exp_why *why);

void exp_paper_work_release(struct exp_paper_work *w);

#endif
