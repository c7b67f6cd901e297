/* A part out of what `make experiment` observed of the real binaries under emulation (observed.csv). */
#ifndef EXPERIMENTS_EXP_PAPER_OBSERVED_H
#define EXPERIMENTS_EXP_PAPER_OBSERVED_H

#include "experiments/base/exp_error.h"
#include "experiments/paper/exp_paper_part.h"
#include "experiments/setup/exp_models.h"

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
