#include "experiments/compare/exp_compare_runs.h"

#include "experiments/report/exp_layers.h"

#define TIME EXP_COMPARE_TIME
#define RATIO EXP_COMPARE_RATIO
#define EXACT EXP_COMPARE_EXACT
#define METRIC(name, member, ...) { name, offsetof(struct exp_layers_row, member), __VA_ARGS__ },

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

const struct rec_field *exp_compare_field(const struct exp_compare_metric *m)
{
    return rec_field_of(&exp_layers_table, m->member);
}
