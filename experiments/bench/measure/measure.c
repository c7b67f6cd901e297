#include "experiments/bench/measure/measure.h"

#include <assert.h>

#include "experiments/base/cells.h"
#include "experiments/base/record.h"
#include "experiments/bench/case/cycles.h"
#include "kernels/csa/csa.h"
#include "sim/analysis/estimate.h"

/* Reasons for missing numbers of a case. */
enum reason {
    NO_TILING,
    NO_CORE,
    NO_TIME,
    NO_SPEEDUP,
    NO_RULER,
    NO_PHASES,
    NO_REPLAY,
    NO_MODEL, /* of the core: nothing can be estimated */
    NO_ESTIMATE,
    NO_ESTIMATED_SPEEDUP,
    NO_CYCLES,
    NO_SIMULATED_SPEEDUP,
    NO_OBSERVED,
    NO_GIVEN,
    N_REASONS
};

/* A case, and sums, from which the numbers of the case are made; no sum has a meaning beside a reason. */
struct measured_case {
    const struct exp_report *r;
    const struct exp_case *c, *base; /* NULL: Base was not selected */
    const char *why[N_REASONS];      /* NULL: no reason */
    const struct csa_tiling *tiling;
    const struct conv_gemm_core *core;
    struct exp_phases phases;
    struct exp_times times;
    struct exp_ratio speedup;
    struct sim_cell sum, tiles, alone; /* of all tensors; of all but the output; by caches alone */
    struct sim_cell seen, replayed;    /* of the observed part */
    struct exp_estimate estimate, base_estimate;
    struct exp_cycles clock, base_clock;
};

/* ---- reasons ---- */

static const char *first_reason(const char *a, const char *b)
{
    return a ? a : b;
}

static const char no_base[] = "base was not selected";

static void find_plan(struct measured_case *x)
{
    static const struct csa_tiling no_tiling = { 0 };
    static const struct conv_gemm_core no_core = { 0 };
    const struct exp_case *c = x->c;

    x->core = conv_plan_core(&c->plan);
    x->why[NO_CORE] = x->core ? NULL : REC_DOES_NOT_APPLY;
    x->core = x->core ? x->core : &no_core;
    x->why[NO_TILING] = !c->algo->is_sconv                 ? REC_DOES_NOT_APPLY
                        : c->plan.algorithm == CONV_DIRECT ? "direct convolution, which CSA does not plan"
                                                           : NULL;
    x->tiling = x->why[NO_TILING] ? &no_tiling : &c->plan.sconv.tiling;
}

static void find_times(struct measured_case *x)
{
    const char *why = x->c->measured.why;

    x->times = exp_case_times(x->c);
    x->speedup = exp_case_speedup(x->r->e, x->c);
    x->phases = exp_case_phases(x->c);
    x->why[NO_TIME] = why;
    x->why[NO_SPEEDUP] = why ? why : isfinite(x->speedup.value) ? EXP_RATIO_NO_INTERVAL : "base was not timed";
    x->why[NO_RULER] = why ? why : x->c->measured.mark && x->c->measured.mark[0].clock_ns ? NULL : EXP_NO_MARK;
    x->why[NO_PHASES] = x->phases.why;
    x->why[NO_GIVEN] = x->c->layer->given_ns > 0 ? NULL : REC_DOES_NOT_APPLY;
}

static void find_simulated(struct measured_case *x)
{
    x->why[NO_REPLAY] = x->c->simulated.why;
    if (x->why[NO_REPLAY])
        return;
    x->sum = sim_stats_total(&x->c->simulated.stats);
    x->alone = sim_stats_total(&x->c->alone.stats);
    for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
        struct sim_cell cell = sim_stats_tag(&x->c->simulated.stats, t);

        if (t != CONV_OUTPUT)
            sim_cell_add(&x->tiles, &cell);
    }
}

static void find_cycles(struct measured_case *x)
{
    const struct exp_setup *s = x->r->e->setup;

    x->clock = exp_cycles(s, x->c);
    x->base_clock = x->base ? exp_cycles(s, x->base) : (struct exp_cycles){ .why = no_base };
    x->why[NO_CYCLES] = x->clock.why;
    x->why[NO_SIMULATED_SPEEDUP] = first_reason(x->clock.why, x->base_clock.why);
}

static void find_estimates(struct measured_case *x)
{
    const struct sim_machine *m = &x->r->e->setup->machine;

    x->estimate = exp_estimate(m, x->c);
    x->base_estimate = x->base ? exp_estimate(m, x->base) : exp_no_estimate(no_base);
    x->why[NO_MODEL] = x->estimate.why;
    x->why[NO_ESTIMATE] = x->clock.why ? x->estimate.why : EXP_CYCLES_INSTEAD;
    x->why[NO_ESTIMATED_SPEEDUP] = first_reason(x->why[NO_ESTIMATE], x->base_estimate.why);
}

static void find_observed(struct measured_case *x)
{
    const struct exp_watched *w = &x->c->observed;

    x->why[NO_OBSERVED] = w->why;
    if (w->why)
        return;
    x->seen = sim_stats_total(w->seen);
    x->replayed = sim_stats_total(w->replayed);
}

/* ---- numbers ---- */

static double misses(const struct measured_case *x, size_t level)
{
    return exp_load_misses(&x->c->simulated.stats, &x->sum, level);
}

static double alone_misses(const struct measured_case *x, size_t level)
{
    return exp_load_misses(&x->c->alone.stats, &x->alone, level);
}

static double served(const struct measured_case *x, const struct sim_cell *cell, size_t source)
{
    return exp_loads_served(&x->c->simulated.stats, cell, source);
}

static double eq6_cycles(const struct measured_case *x)
{
    struct sim_estimate e;

    sim_estimate(&e, &x->r->e->setup->machine, &x->sum);
    return e.sconv_eq6_cycles;
}

static double seen_misses(const struct measured_case *x, size_t level)
{
    return exp_load_misses(x->c->observed.seen, &x->seen, level);
}

static double whole(const struct measured_case *x, double observed)
{
    return 1 / x->c->observed.share * observed;
}

static double percent_of(const struct sim_stats *s, const struct sim_cell *sum, size_t level)
{
    return sum->loads ? 100 * exp_load_misses(s, sum, level) / (double)sum->loads : 0;
}

#define IF(reason, number) x->why[NO_##reason] ? value_none(x->why[NO_##reason]) : value_of((double)(number))
#define FINITE(reason, number) value_if_finite(number, first_reason(x->why[NO_##reason], "not a finite number"))
#define COUNTED(count) exp_case_count(x->c, count)

#define MEASURES "experiments/bench/measure/measures.def"
#define MEASURES_OF struct measured_case
#define MEASURES_ARRAY static const struct measure_record measures[N_MEASURES]
#define MEASURE_ID(name) M_##name
#include "experiments/base/measures_table.h"

const struct measure_record *measure_at(enum measure m)
{
    assert(m < N_MEASURES && *measures[m].name);
    return &measures[m];
}

void measure_ratios(struct value of[N_MEASURES])
{
    measures_ratios(measures, N_MEASURES, of);
}

void measure_case(struct value of[N_MEASURES], const struct exp_report *r, const struct exp_case *c)
{
    struct measured_case x = { .r = r, .c = c, .base = exp_case_base(r->e, c) };

    find_plan(&x);
    find_times(&x);
    find_simulated(&x);
    find_cycles(&x);
    find_estimates(&x);
    find_observed(&x);
    measures_find(measures, N_MEASURES, &x, of);
}

struct exp_ratio measure_speedup(const struct value of[N_MEASURES])
{
    return (struct exp_ratio){ of[M_measured_speedup_vs_base].number, of[M_measured_speedup_low].number,
                               of[M_measured_speedup_high].number, of[M_measured_speedup_by_median].number };
}

double measure_slowed(const struct value *of)
{
    const struct value *slowed = &of[M_measured_slowed_percent];

    return slowed->why ? 0 : slowed->number / 100;
}

void measure_add(struct value sum[N_MEASURES], const struct value of[N_MEASURES])
{
    measures_add(measures, N_MEASURES, sum, of);
}
