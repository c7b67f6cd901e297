/* Sets the paper's numbers beside a judgement's rows and closing table. Internal to the report. */
#ifndef EXPERIMENTS_EXP_JUDGE_PAPER_H
#define EXPERIMENTS_EXP_JUDGE_PAPER_H

#include "experiments/judge/exp_judge_report.h"

/* Returns a published number about a model, or about all ("all", "Geo Mean"); NaN if there is none that compares. */
double exp_judge_published(const struct exp_judge_report *r, const char *figure, const char *model, const char *metric);

/* Returns the convolution speed-up of the paper's Table 2; of "all": its geometric mean. NaN likewise. */
double exp_judge_paper_speedup(const struct exp_judge_report *r, const struct exp_judge_model *model);

/* Say why a yardstick has no numbers, and why the comparison of Base with SConv has none; NULL if they have. */
static inline const char *exp_judge_why_not(const struct exp_judge_report *r, enum exp_yardstick y)
{
    return y == EXP_ESTIMATED_CYCLES ? r->why_no_estimate : NULL;
}

static inline const char *exp_judge_why_no_comparison(const struct exp_judge_report *r)
{
    return r->why_no_estimate ? r->why_no_estimate : r->why_no_base;
}

static inline double exp_judge_percent(size_t part, size_t whole)
{
    return 100.0 * (double)part / (double)whole;
}

#endif
