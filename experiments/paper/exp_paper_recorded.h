/* A part out of what a real computer's counters counted once (exp_counts.h). */
#ifndef EXPERIMENTS_EXP_PAPER_RECORDED_H
#define EXPERIMENTS_EXP_PAPER_RECORDED_H

#include "experiments/base/exp_error.h"
#include "experiments/paper/exp_paper_part.h"
#include "experiments/setup/exp_models.h"

/*
 * Adds rows for the layers that have counts: cycles, loads, and lines that demand brought into L1 as its misses. Models
 * without counts are named in why_not. Returns 0 or -errno with one line in why.
 */
int exp_paper_recorded_read(struct exp_paper_part *p, const char *folder, const struct exp_models *models,
                            struct exp_why *why);

#endif
