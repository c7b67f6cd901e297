/*
 * Parts out of what was recorded: what a real computer's counters counted once (exp_counts.h), and what
 * `make experiment` observed of the real binaries under emulation (observed.csv).
 */
#ifndef EXPERIMENTS_EXP_PAPER_RECORDED_H
#define EXPERIMENTS_EXP_PAPER_RECORDED_H

#include "experiments/base/exp_error.h"
#include "experiments/paper/exp_paper_cases.h"
#include "experiments/setup/exp_model.h"

/*
 * Adds rows for the layers that have counts: cycles, loads, and lines that demand brought into L1 as its misses. Models
 * without counts are named in why_not. Returns 0 or -errno with one line in why.
 */
int exp_paper_recorded_read(struct exp_paper_part *p, const char *folder, const struct exp_models *models,
                            struct exp_why *why);

struct exp_paper_options;

/*
 * Adds rows for the layers that were observed: loads, and the load misses of three levels. Looks into an experiment's
 * folder, <results>/<machine>/<model>,<layers>/ or <model>/ (exp_results.h), and then into
 * results/reference/<machine>/<model>/; a model that is in neither has no rows. Returns 0 or -errno with one line in
 * why.
 */
int exp_paper_observed_read(struct exp_paper_part *p, const struct exp_paper_options *options,
                            const struct exp_models *models, struct exp_why *why);

#endif
