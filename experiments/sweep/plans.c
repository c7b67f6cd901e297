/*
 * The plan of SConv that costs least, for each layer, as a file for PLAN: plans.json. With a simulated core, the clock
 * of the core chooses schedule, tiles and micro-kernel, for a machine that need not be here.
 */
#include <assert.h>

#include "experiments/sweep/sweep.h"
#include "kernels/emit/plan_json.h"

/* Says why there is no file: plans are for the unchanged file of the machine, and for a single core. NULL: a file. */
static const char *why_no_plans(const struct exp_sweep *s)
{
    for (size_t i = 0; i < s->grids.n_points; i++) {
        if (exp_sweep_has_cores(s->config[i]))
            return "VARY has cores";
        if (s->config[i]->has_other_machine)
            return "VARY has keys of the machine";
    }
    return NULL;
}

/* Tells whether a case was simulated and has a plan for the file. */
static bool is_candidate(const struct exp_sweep_case *x)
{
    return !x->why && !x->algo->plugin && x->plan.algorithm == CONV_SCONV;
}

/* The plan of least cost of a layer, of SConv's plans in all configurations; of equal costs the first plan. */
struct best {
    const struct exp_sweep_case *at; /* NULL: none was simulated */
    double cost, own_cost;           /* own: of CSA's tiles in CSA's schedule */
    bool has_own;                    /* CSA's plan is among the configurations */
};

static struct best best_of(const struct exp_sweep_report *r, size_t layer)
{
    const struct exp_sweep *s = r->sweep;
    struct best best = { 0 };

    for (size_t i = 0; i < s->grids.n_points * s->n_algos; i++) {
        const struct exp_sweep_case *x = exp_sweep_case_at(s, layer, i / s->n_algos, i % s->n_algos);
        const double cost = is_candidate(x) ? exp_sweep_cost(r, x) : 0;

        if (!is_candidate(x))
            continue;
        if (!best.at || cost < best.cost) {
            best.at = x;
            best.cost = cost;
        }
        if (x->is_own && x->is_chosen) {
            best.has_own = true;
            best.own_cost = cost;
        }
    }
    return best;
}

static int note(const struct exp_sweep_report *r, struct conv_layer_plans *plans)
{
    int err = 0;

    for (size_t l = 0; l < r->sweep->n_layers && !err; l++) {
        const struct exp_sweep_case *x = best_of(r, l).at;

        if (x)
            err = conv_plans_add(plans, &(struct conv_layer_plan){ .layer = x->layer->name,
                                                                   .machine = x->config->setup.machine.name,
                                                                   .caches = x->config->setup.caches,
                                                                   .plan = x->plan });
    }
    return err;
}

static int print(const void *report, FILE *out)
{
    struct conv_layer_plans plans = { 0 };
    int err = note(report, &plans);

    err = err ? err : conv_plans_print(plans.plan, plans.n, out);
    conv_plans_release(&plans);
    return err;
}

int exp_sweep_plans_write(const struct exp_sweep_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    if (why_no_plans(r->sweep) || !best_of(r, 0).at)
        return 0;
    return exp_outdir_write(dir, EXP_SWEEP_PLANS_FILE, print, r, why);
}

void exp_sweep_plans_say(const struct exp_sweep_report *r, FILE *out)
{
    double cost = 0, own_cost = 0;
    size_t n = 0, n_own = 0, n_as_good = 0;

    assert(r->sum);

    for (size_t l = 0; l < r->sweep->n_layers && !why_no_plans(r->sweep); l++) {
        const struct best best = best_of(r, l);

        n += best.at != NULL;
        n_own += best.has_own;
        n_as_good += best.has_own && best.own_cost <= best.cost;
        cost += best.cost;
        own_cost += best.own_cost;
    }
    if (!n || r->sweep->grids.n_points < 2)
        return;
    fprintf(out, "Each layer with its own best plan of SConv: %.4g in all", cost);
    if (n_own == n)
        fprintf(out, ", %.1f %% less than as CSA chose, which is best in %zu of %zu", 100 * (1 - cost / own_cost),
                n_as_good, n);
    fprintf(out, ". %s has these plans: make experiment PLAN=... ALGO=base,sconv_plan runs them.\n",
            EXP_SWEEP_PLANS_FILE);
}
