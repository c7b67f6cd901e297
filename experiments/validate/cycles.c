/* Simulated cycles beside counted ones: how far apart, and whether they order the algorithms alike. */
#include "experiments/validate/validate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/bench/case/cycles.h"
#include "kernels/csa/csa2.h"

enum kind {
    ERROR_MEDIAN,
    ERROR_P90,
    SIDE_OF_BASE,
    FASTER_SCHEDULE,
    REGRET,
    COST,
    N_TARGETS,
    BY_CSA = N_TARGETS, /* who else chooses a schedule: nothing is to be reached */
    BY_CSA2,
    BY_CSA2_NO_TIE,
    ALWAYS_WS,
    N_KINDS
};

static const struct target {
    const char *name, *words;
    double at_least, aim;          /* in percent; errors and regret are to be at most this, */
    bool is_share;                 /* a share that is right at least this */
    double by_clock, by_clock_aim; /* likewise, where times stand in for counted cycles; 0: the same */
} targets[N_KINDS] = {
    [ERROR_MEDIAN] = { "error_median", "cycles of each row: median of the absolute error", 6, 3, false, 8, 4 },
    [ERROR_P90] = { "error_p90", "cycles of each row: p90 of the absolute error", 15, 8, false, 20, 10 },
    [SIDE_OF_BASE] = { "side_of_base", "side of Base right, where they differ by over 3 %", 90, 96, true },
    [FASTER_SCHEDULE] = { "faster_schedule", "faster of IS and WS right, where they differ by over 3 %", 75, 90, true },
    [REGRET] = { "regret", "regret of the algorithm with the fewest simulated cycles", 3, 1, false },
    [COST] = { "cost", "processor time of the replay, of one without cycles", 150, 110, false, 0, 0 },
    [BY_CSA] = { "faster_schedule_csa", "CSA (Eq. 6)", (double)NAN, (double)NAN, true },
    [BY_CSA2] = { "faster_schedule_csa2", "csa2", (double)NAN, (double)NAN, true },
    [BY_CSA2_NO_TIE] = { "faster_schedule_csa2_no_tie", "csa2 without its tie", (double)NAN, (double)NAN, true },
    [ALWAYS_WS] = { "faster_schedule_ws", "always WS", (double)NAN, (double)NAN, true },
};

/* A row of cycles.csv. */
struct result {
    struct target target;
    double percent; /* NaN: nothing was compared */
    uint64_t n;     /* rows, pairs or layers that are compared */
    const char *reached;
};

/* ---- finding ---- */

static struct exp_cycles_pair none(void)
{
    return (struct exp_cycles_pair){ (double)NAN, (double)NAN };
}

static struct exp_cycles_pair cycles_of(const struct exp_point *p)
{
    const size_t q = ctr_quantity_index("cycles");

    return *p->why_not ? none() : (struct exp_cycles_pair){ p->measured[q], p->simulated[EXP_AS_MACHINE][q] };
}

/* The cycles of the same layer by another algorithm. */
static struct exp_cycles_pair cycles_by(const struct exp_points *points, const struct exp_point *of, const char *algo)
{
    for (size_t i = 0; i < points->n; i++) {
        const struct exp_point *p = &points->point[i];

        if (p->layer == of->layer && !strcmp(p->model, of->model) && !strcmp(p->algo->name, algo))
            return cycles_of(p);
    }
    return none();
}

static void find_errors(const struct exp_points *points, struct result *median, struct result *p90)
{
    struct exp_cycles_pair *pair = exp_new(points->n + 1, sizeof *pair);
    struct exp_spread spread;

    for (size_t i = 0; i < points->n; i++)
        pair[i] = cycles_of(&points->point[i]);
    spread = exp_cycles_errors(pair, points->n);
    median->n = p90->n = spread.n;
    median->percent = spread.median;
    p90->percent = spread.p90;
    free(pair);
}

/* Adds a pair, if the clock takes a side. */
static void add_pair(struct result *x, struct exp_cycles_pair a, struct exp_cycles_pair b)
{
    const int order = exp_cycles_order(a, b);

    x->percent = isnan(x->percent) && order ? 0 : x->percent; /* counts, until all are there */
    x->percent += order > 0;
    x->n += order != 0;
}

/* Says which schedule others than the simulation choose for a layer. */
static void choose(const struct exp_validate_machine *of, const struct conv_problem *p,
                   enum csa_schedule choice[N_KINDS])
{
    const struct exp_setup *s = of->setup;
    const struct csa2_machine m = csa2_machine_of(&s->machine);
    const enum csa2_state state = of->cache == EXP_WARM ? CSA2_WARM : CSA2_COLD;
    struct csa_tiling tiling[CSA_N_SCHEDULES];
    double cycles[CSA_N_SCHEDULES];

    for (enum csa_schedule k = 0; k < CSA_N_SCHEDULES; k++) {
        tiling[k] = csa_analyse(p, &s->caches, s->ukr->n_win, s->ukr->n_f, k);
        cycles[k] = csa2_predict(p, &tiling[k], s->ukr, &m, state);
    }
    choice[BY_CSA] = csa_choose(tiling);
    choice[BY_CSA2] = csa2_choose_schedule(cycles, &m, state);
    choice[BY_CSA2_NO_TIE] = cycles[CSA_WS] < cycles[CSA_IS] ? CSA_WS : CSA_IS;
    choice[ALWAYS_WS] = CSA_WS;
}

/* Adds a layer whose schedules the clock tells apart to who else chooses one. */
static void add_choices(struct result x[N_KINDS], const struct exp_validate_machine *of, const struct exp_point *p,
                        struct exp_cycles_pair is, struct exp_cycles_pair ws)
{
    enum csa_schedule choice[N_KINDS];

    choose(of, &p->layer->problem, choice);
    for (size_t k = N_TARGETS; k < N_KINDS; k++) { /* what is chosen counts as what takes fewer simulated cycles */
        is.simulated = choice[k] == CSA_IS ? 1 : 2;
        ws.simulated = 3 - is.simulated;
        add_pair(&x[k], is, ws);
    }
}

static void find_sides(const struct exp_points *points, const struct exp_validate_machine *of, struct result x[N_KINDS])
{
    const char *const reference = exp_algo_at(0)->name;

    for (size_t i = 0; i < points->n; i++) {
        const struct exp_point *p = &points->point[i];

        if (strcmp(p->algo->name, reference) != 0)
            add_pair(&x[SIDE_OF_BASE], cycles_by(points, p, reference), cycles_of(p));
        if (strcmp(p->algo->name, "sconv_is") != 0)
            continue;
        add_pair(&x[FASTER_SCHEDULE], cycles_of(p), cycles_by(points, p, "sconv_ws"));
        if (exp_cycles_order(cycles_of(p), cycles_by(points, p, "sconv_ws")))
            add_choices(x, of, p, cycles_of(p), cycles_by(points, p, "sconv_ws"));
    }
    for (size_t k = 0; k < N_KINDS; k++) {
        if (targets[k].is_share)
            x[k].percent *= 100 / (double)x[k].n;
    }
}

/* What the algorithms that have the fewest simulated cycles take, beside the fastest ones. */
static void find_regret(const struct exp_points *points, struct result *x)
{
    double picked = 0, fastest = 0;

    for (size_t i = 0; i < points->n; i++) {
        const struct exp_point *first = &points->point[i];
        struct exp_cycles_pair pick = cycles_of(first), best = pick;
        bool is_whole = !i || first->layer != points->point[i - 1].layer;

        for (size_t k = i + 1; is_whole && k < points->n && points->point[k].layer == first->layer; k++) {
            const struct exp_cycles_pair c = cycles_of(&points->point[k]);

            is_whole = !isnan(c.taken / c.simulated);
            pick = c.simulated < pick.simulated ? c : pick;
            best = c.taken < best.taken ? c : best;
        }
        if (!is_whole || isnan(pick.taken / pick.simulated))
            continue;
        picked += pick.taken;
        fastest += best.taken;
        x->n++;
    }
    if (x->n)
        x->percent = 100 * (picked / fastest - 1);
}

static const char *reached(const struct result *x)
{
    const double sign = x->target.is_share ? -1 : 1, is = sign * x->percent;

    if (isnan(x->percent))
        return "not compared";
    if (isnan(x->target.aim))
        return "no target";
    return is <= sign * x->target.aim ? "aim" : is <= sign * x->target.at_least ? "at least" : "no";
}

static void find(const struct exp_points *points, const struct exp_validate_machine *of, struct result x[N_KINDS])
{
    for (size_t i = 0; i < N_KINDS; i++) {
        x[i] = (struct result){ targets[i], (double)NAN, 0, NULL };
        if (of->is_by_clock && targets[i].by_clock > 0) {
            x[i].target.at_least = targets[i].by_clock;
            x[i].target.aim = targets[i].by_clock_aim;
        }
    }
    find_errors(points, &x[ERROR_MEDIAN], &x[ERROR_P90]);
    find_sides(points, of, x);
    find_regret(points, &x[REGRET]);
    x[COST].n = of->n_cost;
    x[COST].percent = of->n_cost ? of->cost_percent : (double)NAN;
    for (size_t i = 0; i < N_KINDS; i++)
        x[i].reached = reached(&x[i]);
}

/* ---- for people, and as a table ---- */

/* Tells whether two points are of equal convolutions: a replay of equal plans in cold caches has equal counts. */
static bool are_equals(const struct exp_point *a, const struct exp_point *b)
{
    const size_t loads = ctr_quantity_index("loads"), cycles = ctr_quantity_index("cycles");
    const double *as = a->simulated[EXP_AS_MACHINE], *bs = b->simulated[EXP_AS_MACHINE];

    return a->algo == b->algo && !(as[loads] < bs[loads]) && !(as[loads] > bs[loads]) &&
           fabs(as[cycles] - bs[cycles]) < 1e-3 * as[cycles];
}

/* Returns the median of the cycles that were counted of a point's equals, itself left out; NaN: it has none. */
static double counted_of_equals(const struct exp_points *points, const struct exp_point *of)
{
    double *cycles = exp_new(points->n + 1, sizeof *cycles), median;

    for (size_t i = 0; i < points->n; i++) {
        const struct exp_point *p = &points->point[i];
        const bool is_one = p != of && !isnan(cycles_of(p).simulated) && are_equals(p, of);

        cycles[i] = is_one ? cycles_of(p).taken : (double)NAN;
    }
    median = exp_spread_of(cycles, points->n).median;
    free(cycles);
    return median;
}

/* Copies points with other simulated cycles: those of the rows alone that have equals, or what their equals counted. */
static struct exp_points points_of_equals(const struct exp_points *points, bool are_counted)
{
    const size_t q = ctr_quantity_index("cycles");
    struct exp_points copy = { exp_new(points->n + 1, sizeof *copy.point), points->n };

    for (size_t i = 0; i < points->n; i++) {
        const double counted = counted_of_equals(points, &points->point[i]);
        double *cycles = &copy.point[i].simulated[EXP_AS_MACHINE][q];

        copy.point[i] = points->point[i];
        *cycles = are_counted || isnan(counted) ? counted : *cycles;
    }
    return copy;
}

/*
 * Says what the recording can tell: how well the counts of equal convolutions foretell one another, as if they were
 * simulated, and how well the simulation does on the same rows. No simulation is to be held to more than that.
 */
static void say_equals(const struct exp_points *points, const struct exp_validate_machine *of, FILE *out)
{
    struct result x[2][N_KINDS];

    for (size_t is_simulated = 0; is_simulated < 2; is_simulated++) {
        struct exp_points equals = points_of_equals(points, !is_simulated);

        find(&equals, of, x[is_simulated]);
        free(equals.point);
    }
    if (!x[0][ERROR_MEDIAN].n)
        return;
    fprintf(out, "\n%-60s %9s %9s | %9s %5s\n", "the same of rows that have equals, foretold by", "at least", "equals",
            "simulated", "of");
    for (size_t i = 0; i < COST; i++) {
        if (!isnan(x[0][i].percent))
            fprintf(out, "%-60s %7.0f %% %7.1f %% | %7.1f %% %5" PRIu64 "\n", targets[i].words, x[0][i].target.at_least,
                    x[0][i].percent, x[1][i].percent, x[1][i].n);
    }
}

/* Says how often others choose the faster schedule, of the layers in which the simulation was asked. */
static void say_choices(const struct result x[N_KINDS], FILE *out)
{
    if (!x[BY_CSA].n)
        return;
    fprintf(out, "Of the same %" PRIu64 " pairs of schedules the faster one is chosen by", x[BY_CSA].n);
    for (size_t k = N_TARGETS; k < N_KINDS; k++)
        fprintf(out, "%s %s in %.1f %%", k > N_TARGETS ? "," : "", targets[k].words, x[k].percent);
    fprintf(out, ".\n");
}

void exp_validate_cycles_print(const struct exp_agreement_report *r, const struct exp_validate_machine *of, FILE *out)
{
    struct result x[N_KINDS];

    find(r->points, of, x);
    fprintf(out, "\n%-60s %9s %6s | %9s %5s %s\n",
            of->is_by_clock ? "simulated cycles, beside times by the clock" : "simulated cycles", "at least", "aim",
            "is", "of", "reached");
    for (size_t i = 0; i < N_TARGETS; i++) {
        fprintf(out, "%-60s %7.0f %% %4.0f %% | ", targets[i].words, x[i].target.at_least, x[i].target.aim);
        if (isnan(x[i].percent))
            fprintf(out, "%9s %5s %s\n", "-", "", x[i].reached);
        else
            fprintf(out, "%7.1f %% %5" PRIu64 " %s\n", x[i].percent, x[i].n, x[i].reached);
    }
    if (!x[ERROR_MEDIAN].n)
        fprintf(out, "No cycles are compared: %s.\n",
                *of->setup->why_no_cycles ? of->setup->why_no_cycles : "no row has both simulated and measured ones");
    say_choices(x, out);
    say_equals(r->points, of, out);
}

static const struct rec_field fields[] = {
    { { "what", "", "errors of all rows; sides of 1; what the pick of the simulation costs", "" },
      REC_AT(struct result, target.name) },
    { { "at_least_percent", "%", "what is to be reached", "" },
      REC_NAN_AS(struct result, target.at_least, REC_DOES_NOT_APPLY) },
    { { "aim_percent", "%", "what is aimed at", "" }, REC_NAN_AS(struct result, target.aim, REC_DOES_NOT_APPLY) },
    { { "percent", "%", "what is reached", "" }, REC_NAN_AS(struct result, percent, REC_DOES_NOT_APPLY) },
    { { "of", "", "rows, pairs or layers that were compared", "" }, REC_AT(struct result, n) },
    { { "reached", "", "aim, at least, no; not compared; or no target", "" }, REC_AT(struct result, reached) },
};

const struct rec_table exp_validate_cycles_table = REC_TABLE("cycles.csv", fields, struct result);

int exp_validate_cycles_write(const struct exp_agreement_report *r, const struct exp_validate_machine *of,
                              const struct exp_outdir *dir, struct exp_why *why)
{
    struct result x[N_KINDS];

    find(r->points, of, x);
    return rec_write(&exp_validate_cycles_table, x, N_KINDS, dir, r->what, why);
}
