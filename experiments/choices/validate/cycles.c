/* Simulated cycles beside counted cycles: how far apart, and do both choose the same algorithms? */
#include "experiments/choices/validate/validate.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/choices/choice.h"
#include "experiments/choices/targets.h"
#include "kernels/csa/csa2.h"
#include "sim/core/clock.h"

enum kind {
    ERROR_MEDIAN,
    ERROR_P90,
    SIDE_OF_BASE,
    FASTER_SCHEDULE,
    REGRET,
    COST,
    N_TARGETS,
    BY_CSA = N_TARGETS, /* rules for schedules without a simulation, and without a target */
    BY_CSA2,
    BY_CSA2_NO_TIE,
    ALWAYS_WS,
    N_RULES,
    BY_CONSTANT = N_RULES, /* cycles foretold without caches (choices/targets.h) */
    BY_FIT,
    N_KINDS
};

static const struct target {
    const char *name, *words;
    bool is_share;                 /* of right choices: to be at least the target; errors: at most */
    double at_least, aim;          /* in percent; 0: no target */
    double by_clock, by_clock_aim; /* where times stand in for counted cycles; 0: no difference */
} targets[N_KINDS] = {
    [ERROR_MEDIAN] = { "error_median", "cycles of each row: median of the absolute error", false, 6, 3, 8, 4 },
    [ERROR_P90] = { "error_p90", "cycles of each row: p90 of the absolute error", false, 15, 8, 20, 10 },
    [SIDE_OF_BASE] = { "side_of_base", "side of Base right, where they differ by over 3 %", true, 90, 96, 0, 0 },
    [FASTER_SCHEDULE] = { "faster_schedule", "faster of IS and WS right, where they differ by over 3 %", true, 75, 90,
                          0, 0 },
    [REGRET] = { "regret", "regret of the algorithm with the fewest simulated cycles", false, 3, 1, 0, 0 },
    [COST] = { "cost", "processor time of the replay, of one without cycles", false, 150, 110, 0, 0 },
    [BY_CSA] = { "faster_schedule_csa", "CSA (Eq. 6)", true, 0, 0, 0, 0 },
    [BY_CSA2] = { "faster_schedule_csa2", "csa2", true, 0, 0, 0, 0 },
    [BY_CSA2_NO_TIE] = { "faster_schedule_csa2_no_tie", "csa2 without its tie", true, 0, 0, 0, 0 },
    [ALWAYS_WS] = { "faster_schedule_ws", "always WS", true, 0, 0, 0, 0 },
    [BY_CONSTANT] = { "error_median_constant", "a constant for each multiply-add", false, 0, 0, 0, 0 },
    [BY_FIT] = { "error_median_fit", "a fit to multiply-adds, loads, stores and a constant", false, 0, 0, 0, 0 },
};

/* A row of cycles.csv. */
struct result {
    const char *name, *reached;
    struct value at_least, aim, percent;
    struct exp_choice_sum choices; /* of a share, and of the regret */
    uint64_t n;                    /* compared rows, pairs or layers */
};

struct exp_cycles_pair exp_validate_cycles_of_point(const struct exp_point *p)
{
    const size_t q = ctr_quantity_index("cycles");

    return !p || *p->why_not ? (struct exp_cycles_pair){ (double)NAN, (double)NAN }
                             : (struct exp_cycles_pair){ p->measured[q].number, p->simulated[EXP_AS_MACHINE][q] };
}

/* ---- baselines ---- */

/* Returns numbered rows of the points, from malloc. */
static struct exp_taken *rows_of(const struct exp_points *points, size_t *n)
{
    struct exp_taken *row = exp_new(points->n + 1, sizeof *row);
    size_t layer = 0;

    *n = 0;
    for (const struct exp_point *p = points->point; p < points->point + points->n; p++) {
        const struct exp_cycles_pair cycles = exp_validate_cycles_of_point(p);
        const double *simulated = p->simulated[EXP_AS_MACHINE];

        layer += p > points->point && p->layer != p[-1].layer;
        row[(*n)++] = (struct exp_taken){
            .problem = &p->layer->problem,
            .algo = p->algo,
            .layer = layer,
            .taken = cycles.taken,
            .simulated = cycles.simulated,
            .amount = { conv_macs(&p->layer->problem), simulated[ctr_quantity_index("loads")],
                        simulated[ctr_quantity_index("stores")], 1 },
        };
    }
    exp_taken_number(row, *n);
    return row;
}

static void judge(const struct exp_points *points, const struct exp_validate_machine *of,
                  struct exp_target_result result[EXP_N_TARGETS])
{
    static const enum kind bound_of[EXP_N_TARGETS] = {
        [EXP_TARGET_MEDIAN] = ERROR_MEDIAN,      [EXP_TARGET_P90] = ERROR_P90, [EXP_TARGET_SIDE] = SIDE_OF_BASE,
        [EXP_TARGET_SCHEDULE] = FASTER_SCHEDULE, [EXP_TARGET_REGRET] = REGRET, [EXP_TARGET_REGRET_SUM] = REGRET,
    };
    struct exp_bound bound[EXP_N_TARGETS] = { { 0, 0, 0, 0 } };
    size_t n;
    struct exp_taken *row = rows_of(points, &n);

    for (enum exp_target t = 0; t < EXP_N_TARGETS; t++) {
        const struct target *target = &targets[bound_of[t]];
        const bool is_by_clock = of->is_by_clock && target->by_clock > 0;

        bound[t].at_least = is_by_clock ? target->by_clock : target->at_least;
        bound[t].aim = is_by_clock ? target->by_clock_aim : target->aim;
    }
    exp_targets_judge(row, n, bound, result);
    free(row);
}

/* Returns the median of the absolute errors of a prediction, in percent; NaN: no row is foretold. */
static double error_of(const struct exp_points *points, enum exp_foreteller by)
{
    struct exp_cycles_pair *pair = exp_new(points->n + 1, sizeof *pair);
    double *foretold = exp_new(points->n + 1, sizeof *foretold), median;
    size_t n;
    struct exp_taken *row = rows_of(points, &n);

    exp_foretell(row, n, by, foretold);
    for (size_t i = 0; i < n; i++)
        pair[i] = (struct exp_cycles_pair){ row[i].taken, foretold[i] };
    median = exp_cycles_errors(pair, n).median;
    free(foretold);
    free(pair);
    free(row);
    return median;
}

/* ---- finding ---- */

/* Returns the point of an algorithm in a point's layer; NULL: no point. */
static const struct exp_point *point_by(const struct exp_points *points, const struct exp_point *of, const char *algo)
{
    for (const struct exp_point *p = points->point; p < points->point + points->n; p++) {
        if (p->layer == of->layer && !strcmp(p->model, of->model) && !strcmp(p->algo->name, algo))
            return p;
    }
    return NULL;
}

static void find_errors(const struct exp_points *points, struct result *median, struct result *p90)
{
    struct exp_cycles_pair *pair = exp_new(points->n + 1, sizeof *pair);
    struct exp_spread spread;

    for (size_t i = 0; i < points->n; i++)
        pair[i] = exp_validate_cycles_of_point(&points->point[i]);
    spread = exp_cycles_errors(pair, points->n);
    median->n = p90->n = spread.n;
    median->percent = value_if_finite(spread.median, REC_DOES_NOT_APPLY);
    p90->percent = value_if_finite(spread.p90, REC_DOES_NOT_APPLY);
    free(pair);
}

static void add_alternative(struct exp_choice *c, const struct exp_point *p)
{
    const struct exp_cycles_pair cycles = exp_validate_cycles_of_point(p);

    c->by[c->n] = value_if_finite(cycles.simulated, "not simulated");
    c->cost[c->n++] = value_if_finite(cycles.taken, "not counted");
}

/* Makes the choice of the fewer simulated cycles. Returns false if a number is unknown, or the costs hardly differ. */
static bool choose_of_two(struct exp_choice *c, const struct exp_point *a, const struct exp_point *b)
{
    *c = (struct exp_choice){ 0 };
    add_alternative(c, a);
    add_alternative(c, b);
    if (exp_choice_lacks_cost(c) || !exp_choice_matters(c, EXP_CYCLES_TIE))
        return false;
    exp_choose(c);
    return true;
}

/* Fills in the schedule that each rule chooses for a layer. */
static void choose_by_rules(const struct exp_validate_machine *of, const struct conv_problem *p,
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

/* Judges the schedules that the simulation and the rules choose for the layer of p, a point of input stationary. */
static void add_schedules(struct result x[N_KINDS], const struct exp_points *points, const struct exp_point *p,
                          const struct exp_validate_machine *of)
{
    enum csa_schedule chosen[N_KINDS];
    struct exp_choice choice;

    if (!choose_of_two(&choice, p, point_by(points, p, "sconv_ws")))
        return;
    exp_choice_add(&x[FASTER_SCHEDULE].choices, &choice);
    choose_by_rules(of, &p->layer->problem, chosen);
    for (size_t k = N_TARGETS; k < N_RULES; k++) {
        choice.chosen = chosen[k];
        exp_choice_add(&x[k].choices, &choice);
    }
}

static void find_sides(const struct exp_points *points, const struct exp_validate_machine *of, struct result x[N_KINDS])
{
    const char *const reference = exp_algo_at(0)->name;
    struct exp_choice choice;

    for (size_t i = 0; i < points->n; i++) {
        const struct exp_point *p = &points->point[i];

        if (strcmp(p->algo->name, reference) && choose_of_two(&choice, point_by(points, p, reference), p))
            exp_choice_add(&x[SIDE_OF_BASE].choices, &choice);
        if (!strcmp(p->algo->name, "sconv_is"))
            add_schedules(x, points, p, of);
    }
    for (size_t k = 0; k < N_KINDS; k++) {
        const struct exp_choice_sum *s = &x[k].choices;

        if (!targets[k].is_share)
            continue;
        x[k].n = s->n;
        x[k].percent = value_if_finite((double)s->n_right * (100 / (double)s->n), REC_DOES_NOT_APPLY);
    }
}

/* Judges the algorithms of the fewest simulated cycles, in the layers where all algorithms have cycles. */
static void find_regret(const struct exp_points *points, struct result *x)
{
    for (size_t i = 0; i < points->n;) {
        const struct exp_layer *layer = points->point[i].layer;
        struct exp_choice choice = { 0 };

        for (; i < points->n && points->point[i].layer == layer && choice.n < EXP_CHOICE_MOST; i++)
            add_alternative(&choice, &points->point[i]);
        if (exp_choice_lacks_cost(&choice))
            continue;
        exp_choose(&choice);
        exp_choice_add(&x->choices, &choice);
    }
    x->n = x->choices.n;
    x->percent = value_if_finite(exp_choice_regret_percent(&x->choices), REC_DOES_NOT_APPLY);
}

static const char *reached(const struct result *x, bool is_share)
{
    const double sign = is_share ? -1 : 1, is = sign * x->percent.number;

    if (x->percent.why)
        return "not compared";
    if (x->aim.why)
        return "no target";
    return is <= sign * x->aim.number ? "aim" : is <= sign * x->at_least.number ? "at least" : "no";
}

/* Takes the verdicts on the targets from the judgement beside baselines. */
static void take_reached(const struct exp_points *points, const struct exp_validate_machine *of,
                         struct result x[N_KINDS])
{
    static const enum exp_target target_of[] = { [ERROR_MEDIAN] = EXP_TARGET_MEDIAN,
                                                 [ERROR_P90] = EXP_TARGET_P90,
                                                 [SIDE_OF_BASE] = EXP_TARGET_SIDE,
                                                 [FASTER_SCHEDULE] = EXP_TARGET_SCHEDULE,
                                                 [REGRET] = EXP_TARGET_REGRET_SUM };
    struct exp_target_result judged[EXP_N_TARGETS];

    judge(points, of, judged);
    for (size_t i = 0; i < sizeof target_of / sizeof target_of[0]; i++)
        x[i].reached = judged[target_of[i]].reached;
}

static void find(const struct exp_points *points, const struct exp_validate_machine *of, struct result x[N_KINDS])
{
    for (size_t i = 0; i < N_KINDS; i++) {
        const struct target *t = &targets[i];
        const bool is_by_clock = of->is_by_clock && t->by_clock > 0;

        x[i] = (struct result){ .name = t->name,
                                .at_least = value_of(is_by_clock ? t->by_clock : t->at_least),
                                .aim = value_of(is_by_clock ? t->by_clock_aim : t->aim) };
        if (i >= N_TARGETS)
            x[i].at_least = x[i].aim = value_none(REC_DOES_NOT_APPLY);
    }
    find_errors(points, &x[ERROR_MEDIAN], &x[ERROR_P90]);
    find_sides(points, of, x);
    find_regret(points, &x[REGRET]);
    x[BY_CONSTANT].n = x[BY_FIT].n = x[ERROR_MEDIAN].n;
    x[BY_CONSTANT].percent = x[BY_FIT].percent = value_none(REC_DOES_NOT_APPLY);
    x[COST].n = of->n_cost;
    x[COST].percent = value_if_finite(of->n_cost ? of->cost_percent : (double)NAN, REC_DOES_NOT_APPLY);
    for (size_t i = 0; i < N_KINDS; i++)
        x[i].reached = reached(&x[i], targets[i].is_share);
    take_reached(points, of, x);
}

/* ---- for people, and as a table ---- */

/* Prints the targets beside baselines; no simulation can be expected to be better than equal convolutions. */
static void print_baselines(const struct exp_points *points, const struct exp_validate_machine *of, FILE *out)
{
    struct exp_target_result judged[EXP_N_TARGETS];

    judge(points, of, judged);
    fprintf(out,
            "\nBeside baselines, which know no caches (" EXP_BASELINES_FILE "); a target is reached only if the best "
            "is beaten, by more than chance (sign test, p < 0.05):\n");
    exp_targets_print(judged, out);
}

void exp_validate_cycles_print(const struct exp_agreement_report *r, const struct exp_validate_machine *of, FILE *out)
{
    struct result x[N_KINDS];

    assert(r->points && of && out);
    find(r->points, of, x);
    fprintf(out, "\n%-60s %9s %6s | %9s %5s %s\n",
            of->is_by_clock ? "simulated cycles, beside times by the clock" : "simulated cycles", "at least", "aim",
            "is", "of", "reached");
    for (size_t i = 0; i < N_TARGETS; i++) {
        fprintf(out, "%-60s %7.0f %% %4.0f %% | ", targets[i].words, x[i].at_least.number, x[i].aim.number);
        if (x[i].percent.why)
            fprintf(out, "%9s %5s %s\n", "-", "", x[i].reached);
        else
            fprintf(out, "%7.1f %% %5" PRIu64 " %s\n", x[i].percent.number, x[i].n, x[i].reached);
    }
    if (!x[ERROR_MEDIAN].n)
        fprintf(out, "No cycles are compared: %s.\n",
                *of->setup->why_no_cycles ? of->setup->why_no_cycles : "no row has both simulated and measured ones");
    if (of->setup->machine.core.never_timed)
        fprintf(out, "Simulated cycles of %s were never timed on such a machine.\n", of->setup->machine.name);
    if (x[BY_CSA].n) /* the layers where the simulation chose a schedule */
        fprintf(out, "Of the same %" PRIu64 " pairs of schedules the faster one is chosen by", x[BY_CSA].n);
    for (size_t k = N_TARGETS; k < N_RULES && x[BY_CSA].n; k++)
        fprintf(out, "%s %s in %.1f %%%s", k > N_TARGETS ? "," : "", targets[k].words, x[k].percent.number,
                k + 1 < N_RULES ? "" : ".\n");
    fprintf(out, "Chosen with counts or times in view, so these numbers do not test:\n");
    for (size_t i = 0; sim_clock_choice(i); i++)
        fprintf(out, "  %s\n", sim_clock_choice(i));
    if (x[ERROR_MEDIAN].n)
        print_baselines(r->points, of, out);
}

struct exp_validate_cycles exp_validate_cycles_of(const struct exp_agreement_report *r,
                                                  const struct exp_validate_machine *of)
{
    struct result x[N_KINDS];

    find(r->points, of, x);
    return (struct exp_validate_cycles){ .n = x[ERROR_MEDIAN].n,
                                         .median = x[ERROR_MEDIAN].percent.number,
                                         .p90 = x[ERROR_P90].percent.number,
                                         .constant = error_of(r->points, EXP_BY_CONSTANT),
                                         .fit = error_of(r->points, EXP_BY_FIT),
                                         .equals = error_of(r->points, EXP_BY_EQUALS),
                                         .side = x[SIDE_OF_BASE].choices,
                                         .schedule = x[FASTER_SCHEDULE].choices,
                                         .n_right_csa = x[BY_CSA].choices.n_right,
                                         .n_right_csa2 = x[BY_CSA2].choices.n_right };
}

static const struct rec_field fields[] = {
    { { "what", "", "errors of all rows; sides of 1; what the pick of the simulation costs", "" },
      REC_AT(struct result, name) },
    { { "at_least_percent", "%", "what is to be reached", "" }, REC_VALUE(struct result, at_least) },
    { { "aim_percent", "%", "what is aimed at", "" }, REC_VALUE(struct result, aim) },
    { { "percent", "%", "what is reached", "" }, REC_VALUE(struct result, percent) },
    { { "of", "", "rows, pairs or layers that were compared", "" }, REC_AT(struct result, n) },
    { { "reached", "", "aim, at least, no; not compared; or no target", "" }, REC_AT(struct result, reached) },
};

const struct rec_table exp_validate_cycles_table = REC_TABLE("cycles.csv", fields, struct result);

int exp_validate_cycles_write(const struct exp_agreement_report *r, const struct exp_validate_machine *of,
                              const struct exp_validate_cycles *c, const struct exp_outdir *dir, struct exp_why *why)
{
    struct result x[N_KINDS];
    struct exp_target_result judged[EXP_N_TARGETS];
    int err;

    find(r->points, of, x);
    x[BY_CONSTANT].percent = value_if_finite(c->constant, REC_DOES_NOT_APPLY);
    x[BY_FIT].percent = value_if_finite(c->fit, REC_DOES_NOT_APPLY);
    for (size_t i = N_RULES; i < N_KINDS; i++)
        x[i].reached = reached(&x[i], false);
    judge(r->points, of, judged);
    err = rec_write(&exp_validate_cycles_table, x, N_KINDS, dir, r->what, why);
    return err ? err : rec_write(&exp_baselines_table, judged, EXP_N_TARGETS, dir, r->what, why);
}
