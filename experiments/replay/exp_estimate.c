#include "experiments/replay/exp_estimate.h"

#include "sim/analysis/estimate.h"

const char *exp_estimate_why_not(const struct sim_machine *m)
{
    const struct sim_issue *i = &m->issue;

    if (!i->mac_rows || !i->mac_columns || !(i->mac_instructions_per_cycle > 0))
        return "the machine's file does not state mac_rows, mac_columns and mac_instructions_per_cycle";
    if (!(i->loads_per_cycle > 0) || !(i->stores_per_cycle > 0))
        return "the machine's file does not state loads_per_cycle and stores_per_cycle";
    return NULL;
}

const char *exp_estimate_why_not_case(const struct sim_machine *m, const struct exp_case *c)
{
    return c->simulated.why_not ? c->simulated.why_not : exp_estimate_why_not(m);
}

static double slowest(double a, double b, double c)
{
    double ab = a > b ? a : b;

    return ab > c ? ab : c;
}

static double issue_cycles(const struct sim_issue *i, const struct sim_cell *phase, uint64_t mac_instructions)
{
    return slowest((double)mac_instructions / i->mac_instructions_per_cycle, (double)phase->loads / i->loads_per_cycle,
                   (double)phase->stores / i->stores_per_cycle);
}

struct exp_estimate exp_estimate_phases(const struct sim_machine *m, const struct sim_cell phase[CONV_N_PHASES],
                                        uint64_t mac_instructions)
{
    struct exp_estimate e = { 0 };

    for (unsigned p = 0; p < CONV_N_PHASES; p++) {
        double issue = issue_cycles(&m->issue, &phase[p], p == CONV_PHASE_UKR ? mac_instructions : 0);
        struct sim_estimate memory;

        sim_estimate(&memory, m, &phase[p]);
        e.issue_cycles += issue;
        e.memory_cycles += memory.sconv_eq6_cycles;
        if (p == CONV_PHASE_IM2COL || p == CONV_PHASE_PACK)
            e.packing_cycles += issue + memory.sconv_eq6_cycles;
    }
    e.total_cycles = e.issue_cycles + e.memory_cycles;
    return e;
}

struct exp_estimate exp_estimate(const struct sim_machine *m, const struct exp_case *c)
{
    struct sim_cell phase[CONV_N_PHASES];

    for (unsigned p = 0; p < CONV_N_PHASES; p++)
        phase[p] = sim_stats_phase(&c->simulated.stats, p);
    return exp_estimate_phases(m, phase, c->simulated.mac_instructions);
}

void exp_estimate_add(struct exp_estimate *sum, const struct exp_estimate *e)
{
    sum->issue_cycles += e->issue_cycles;
    sum->memory_cycles += e->memory_cycles;
    sum->total_cycles += e->total_cycles;
    sum->packing_cycles += e->packing_cycles;
}
