#include "experiments/bench/case/cycles.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/base/error.h"

const char *exp_plan_why_no_cycles(const struct exp_setup *s, const struct exp_algo *a, const struct conv_plan *plan)
{
    assert(s && a && plan);
    if (*s->why_no_cycles)
        return s->why_no_cycles;
    if (plan->algorithm == CONV_PLUGIN)
        return plan->plugin.why_no_cycles;
    return exp_stacks_find(&s->stacks, a->name, plan) ? NULL : EXP_NO_WORK_ON_RECORD;
}

static double sum_of(const double *x, size_t first, size_t end)
{
    double sum = 0;

    for (size_t i = first; i < end; i++)
        sum += x[i];
    return sum;
}

struct exp_cycles exp_cycles(const struct exp_setup *s, const struct exp_case *c)
{
    const size_t n = c->simulated.stats.n_levels;
    struct exp_cycles x = { .why = c->simulated.why ? c->simulated.why : exp_plan_why_no_cycles(s, c->algo, &c->plan) };

    for (unsigned p = 0; p < CONV_N_PHASES && !x.why; p++) {
        const struct sim_cycles *of = &c->simulated.cycles[p];

        x.sum += sim_cycles_sum(of);
        *(p == CONV_PHASE_UKR ? &x.computing : &x.packing) += of->computing;
        x.calls += of->calls;
        x.storing += of->storing;
        x.translating += of->translating;
        x.waiting[0] += n > 1 ? of->waiting[1] : 0;
        x.waiting[1] += sum_of(of->waiting, 2, n);
        x.waiting[2] += of->waiting[n];
        x.packing_sum += p == CONV_PHASE_UKR ? 0 : sim_cycles_sum(of);
        x.packing_memory += p == CONV_PHASE_UKR ? 0 : of->waiting[n];
    }
    return x;
}

double exp_ran_at_ghz(const struct exp_setup *s)
{
    return s->ran_at_ghz > 0 ? s->ran_at_ghz : s->machine.issue.clock_ghz;
}

struct value exp_cycles_taken(const struct exp_setup *s, const struct exp_case *c, const char *why_elsewhere)
{
    const double beside = exp_case_ghz(c), ghz = beside > 0 ? beside : exp_ran_at_ghz(s);

    if (c->measured.why || why_elsewhere)
        return value_none(c->measured.why ? c->measured.why : why_elsewhere);
    if (value_is_known(exp_case_count(c, EXP_CYCLES)))
        return exp_case_count(c, EXP_CYCLES);
    return value_or(exp_case_times(c).low_mean * ghz, ghz > 0 ? NULL : "the machine's file does not state clock_ghz");
}

static double quotient_of(const struct exp_cycles_pair *p)
{
    return p->simulated / p->taken;
}

static double error_of(const struct exp_cycles_pair *p)
{
    return 100 * fabs(quotient_of(p) - 1);
}

static struct exp_spread spread_of(const struct exp_cycles_pair *pair, size_t n,
                                   double (*number)(const struct exp_cycles_pair *p))
{
    double *value = exp_new(n + 1, sizeof *value);
    struct exp_spread spread;

    for (size_t i = 0; i < n; i++)
        value[i] = number(&pair[i]);
    spread = exp_spread_of(value, n);
    free(value);
    return spread;
}

struct exp_spread exp_cycles_errors(const struct exp_cycles_pair *pair, size_t n)
{
    return spread_of(pair, n, error_of);
}

struct exp_spread exp_cycles_quotients(const struct exp_cycles_pair *pair, size_t n)
{
    return spread_of(pair, n, quotient_of);
}

int exp_cycles_order(struct exp_cycles_pair a, struct exp_cycles_pair b)
{
    const double taken = a.taken / b.taken, simulated = a.simulated / b.simulated;

    if (isnan(taken) || isnan(simulated) || (taken <= EXP_CYCLES_TIE && taken >= 1 / EXP_CYCLES_TIE))
        return 0;
    return (taken > 1) == (simulated > 1) ? 1 : -1;
}
