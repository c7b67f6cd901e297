/* What a case that was replayed comes to. */
#include <math.h>

#include "experiments/sweep/sweep.h"

/* Returns the share of all cores' work that the longest core has, which the others wait for; 1 of one core. */
static double longest_share(const struct exp_sweep_config *c, const struct exp_sweep_counts *counts)
{
    if (!exp_sweep_has_cores(c))
        return 1;
    return counts->mac_instructions ? (double)counts->longest_mac_instructions / (double)counts->mac_instructions
                                    : 1 / (double)c->n_cores;
}

/* Fills in what a case that was replayed comes to. */
void exp_sweep_fill_values(const struct exp_sweep_report *r, const struct exp_sweep_case *x, double *value)
{
    const struct sim_machine *m = &x->config->setup.machine;
    const struct exp_sweep_counts *c = &r->sweep->counts[x->task];
    const struct exp_estimate e = exp_estimate_phases(m, c->phase, c->mac_instructions);
    const double share = r->why_no_estimate ? (double)NAN : longest_share(x->config, c);
    const struct sim_stats levels = { .n_levels = m->n_levels };
    struct sim_cell sum = { 0 };

    for (unsigned p = 0; p < CONV_N_PHASES; p++)
        sim_cell_add(&sum, &c->phase[p]);
    value[EXP_SWEEP_LOADS] = (double)sum.loads;
    for (size_t i = 0; i < EXP_N_NAMED_LEVELS; i++)
        value[EXP_SWEEP_MISSES + i] = (double)sum.level[exp_named_level(&levels, i)].load_misses;
    value[EXP_SWEEP_LINES_READ] = (double)sum.memory_read_lines;
    value[EXP_SWEEP_LINES_WRITTEN] = (double)sum.memory_written_lines;
    value[EXP_SWEEP_ISSUE_CYCLES] = e.issue_cycles * share;
    value[EXP_SWEEP_MEMORY_CYCLES] = e.memory_cycles * share;
    value[EXP_SWEEP_CYCLES] = (double)c->cycles;
    value[EXP_SWEEP_COST] = r->has_cycles        ? value[EXP_SWEEP_CYCLES]
                            : r->why_no_estimate ? value[EXP_SWEEP_LINES_READ] + value[EXP_SWEEP_LINES_WRITTEN]
                                                 : value[EXP_SWEEP_ISSUE_CYCLES] + value[EXP_SWEEP_MEMORY_CYCLES];
}

double exp_sweep_cost(const struct exp_sweep_report *r, const struct exp_sweep_case *x)
{
    double value[EXP_SWEEP_N_VALUES];

    exp_sweep_fill_values(r, x, value);
    return value[EXP_SWEEP_COST];
}
