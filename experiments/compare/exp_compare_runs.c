#include "experiments/compare/exp_compare_runs.h"

#define TIME EXP_COMPARE_TIME
#define RATIO EXP_COMPARE_RATIO
#define EXACT EXP_COMPARE_EXACT
#define METRIC(...) { __VA_ARGS__ },

static const struct exp_compare_metric metrics[] = {
#include "experiments/compare/metrics.def"
};

size_t exp_compare_n_metrics(void)
{
    return sizeof metrics / sizeof metrics[0];
}

const struct exp_compare_metric *exp_compare_metric_at(size_t i)
{
    return &metrics[i];
}
