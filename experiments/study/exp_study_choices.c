#include "experiments/study/exp_study_choices.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- the rules ---- */

struct choice {
    const struct exp_study_source *s;
    size_t point;
};

static const struct exp_study_view *view_of(const struct choice *c, enum csa_schedule schedule)
{
    return &c->s->view[c->point][schedule];
}

static double csa_cost(const struct choice *c, enum csa_schedule schedule)
{
    return view_of(c, schedule)->csa_cycles;
}

static double is_cost(const struct choice *c, enum csa_schedule schedule)
{
    (void)c;
    return schedule != CSA_IS;
}

static double ws_cost(const struct choice *c, enum csa_schedule schedule)
{
    (void)c;
    return schedule != CSA_WS;
}

static double lines_cost(const struct choice *c, enum csa_schedule schedule)
{
    return view_of(c, schedule)->lines;
}

static double eq6_cost(const struct choice *c, enum csa_schedule schedule)
{
    return view_of(c, schedule)->sim_cycles;
}

static double csa2_cost(const struct choice *c, enum csa_schedule schedule)
{
    const double cycles[CSA_N_SCHEDULES] = { view_of(c, CSA_IS)->csa2_cycles, view_of(c, CSA_WS)->csa2_cycles };

    return schedule != csa2_choose_schedule(cycles, &c->s->model, c->s->times.point[c->point].state);
}

static double other_cost(const struct choice *c, enum csa_schedule schedule)
{
    return exp_study_schedule_time(&c->s->times.point[c->point], schedule)->other_cycles;
}

static double log_ratio(const struct exp_study_point *p)
{
    return log(exp_study_schedule_time(p, CSA_IS)->cycles / exp_study_schedule_time(p, CSA_WS)->cycles);
}

enum { MAX_SAME = 512 }; /* layers of one shape that are looked at */

/* Collects of() all layers of a point's shape and state. Returns how many there are. */
static size_t same_shape(const struct exp_study_source *s, const struct exp_study_point *own,
                         double (*of)(const struct exp_study_point *p), double value[MAX_SAME])
{
    size_t n = 0;

    for (size_t i = 0; i < s->times.n && n < MAX_SAME; i++) {
        const struct exp_study_point *p = &s->times.point[i];

        if (p->state == own->state && exp_study_has_schedules(p) &&
            conv_problem_equal(&p->layer->problem, &own->layer->problem))
            value[n++] = of(p);
    }
    return n;
}

static double shape_cost(const struct choice *c, enum csa_schedule schedule)
{
    double ratio[MAX_SAME];
    size_t n = same_shape(c->s, &c->s->times.point[c->point], log_ratio, ratio);
    double median = exp_spread_of(ratio, n).median;

    return schedule == CSA_IS ? median : 0;
}

static const struct rule {
    const char *name, *title, *what;
    double (*cost)(const struct choice *c, enum csa_schedule schedule);
} rules[EXP_STUDY_N_RULES] = {
#define RULE(upper, ...) [EXP_STUDY_##upper] = { __VA_ARGS__ },
#include "experiments/study/rules.def"
#undef RULE
};

const char *exp_study_rule_name(enum exp_study_rule rule)
{
    return rules[rule].name;
}

const char *exp_study_rule_title(enum exp_study_rule rule)
{
    return rules[rule].title;
}

/* ---- sums ---- */

static const char *const part_names[EXP_STUDY_N_PARTS] = { "all", "training", "others" };
const char *exp_study_part_name(enum exp_study_part part)
{
    return part_names[part];
}

static bool belongs(const struct exp_study_point *p, enum csa2_state state, enum exp_study_part part)
{
    return p->state == state && exp_study_has_schedules(p) &&
           (part == EXP_STUDY_ALL || p->is_training == (part == EXP_STUDY_TRAINING));
}

struct exp_study_tally exp_study_tally_of(const struct exp_study_source *s, enum exp_study_rule rule,
                                          enum csa2_state state, enum exp_study_part part)
{
    struct exp_study_tally t = { 0 };

    for (size_t i = 0; i < s->times.n; i++) {
        const struct exp_study_point *p = &s->times.point[i];
        const struct choice c = { s, i };
        double is, ws, time[CSA_N_SCHEDULES];
        enum csa_schedule chosen, best;

        if (!belongs(p, state, part))
            continue;
        is = rules[rule].cost(&c, CSA_IS);
        ws = rules[rule].cost(&c, CSA_WS);
        if (isnan(is) || isnan(ws))
            continue;
        chosen = ws < is ? CSA_WS : CSA_IS;
        time[CSA_IS] = exp_study_schedule_time(p, CSA_IS)->cycles;
        time[CSA_WS] = exp_study_schedule_time(p, CSA_WS)->cycles;
        best = time[CSA_WS] < time[CSA_IS] ? CSA_WS : CSA_IS;
        t.n++;
        t.n_is += chosen == CSA_IS;
        t.n_right += chosen == best;
        t.n_decided += exp_study_decides(p);
        t.n_decided_right += exp_study_decides(p) && chosen == best;
        t.chosen += time[chosen];
        t.best += time[best];
    }
    return t;
}

double exp_study_tie_of(const struct exp_study_source *s, enum csa2_state state)
{
    struct exp_study_source tried = *s; /* looks at what s has */
    double best = 0, least = (double)INFINITY;

    for (int percent = 0; percent <= EXP_STUDY_MOST_TIE_PERCENT; percent++) {
        double chosen;

        tried.model.tie_share[state] = percent / 100.0;
        chosen = exp_study_tally_of(&tried, EXP_STUDY_BY_CSA2, state, EXP_STUDY_TRAINING).chosen;
        if (chosen <= least) {
            least = chosen;
            best = tried.model.tie_share[state];
        }
    }
    return least > 0 ? best : (double)NAN;
}

double exp_study_right_percent(const struct exp_study_tally *t)
{
    return 100.0 * (double)t->n_right / (double)t->n;
}

double exp_study_regret_percent(const struct exp_study_tally *t)
{
    return 100 * (t->chosen / t->best - 1);
}

struct exp_study_accuracy exp_study_accuracy_of(const struct exp_study_source *s, enum csa2_state state,
                                                enum exp_study_part part)
{
    struct exp_study_accuracy a = { { 0, (double)NAN, (double)NAN, (double)NAN }, (double)NAN };
    double *memory = malloc((4 * s->times.n + 1) * sizeof *memory);
    double *ratio = memory, *predicted = memory + 2 * s->times.n, *measured = predicted + s->times.n;
    size_t n = 0;

    for (size_t i = 0; i < s->times.n && memory; i++) {
        const struct exp_study_point *p = &s->times.point[i];

        if (!belongs(p, state, part))
            continue;
        for (int k = 0; k < CSA_N_SCHEDULES; k++)
            ratio[2 * n + (size_t)k] =
                s->view[i][k].csa2_cycles / exp_study_schedule_time(p, (enum csa_schedule)k)->cycles;
        predicted[n] = log(s->view[i][CSA_IS].csa2_cycles / s->view[i][CSA_WS].csa2_cycles);
        measured[n++] = log_ratio(p);
    }
    if (memory) {
        a.spread = exp_spread_of(ratio, 2 * n);
        a.rank = exp_stats_spearman(predicted, measured, n);
    }
    free(memory);
    return a;
}

static double is_cycles(const struct exp_study_point *p)
{
    return exp_study_schedule_time(p, CSA_IS)->cycles;
}

static double ws_cycles(const struct exp_study_point *p)
{
    return exp_study_schedule_time(p, CSA_WS)->cycles;
}

struct exp_spread exp_study_repeats_of(const struct exp_study_source *s, enum csa2_state state)
{
    static double (*const cycles[CSA_N_SCHEDULES])(const struct exp_study_point *p) = { is_cycles, ws_cycles };
    struct exp_spread spread = { 0, (double)NAN, (double)NAN, (double)NAN };
    double *ratio = malloc((CSA_N_SCHEDULES * s->times.n + 1) * sizeof *ratio);
    size_t n = 0;

    for (size_t i = 0; i < CSA_N_SCHEDULES * s->times.n && ratio; i++) {
        const struct exp_study_point *p = &s->times.point[i / CSA_N_SCHEDULES];
        double same[MAX_SAME];
        size_t n_same = belongs(p, state, EXP_STUDY_ALL) ? same_shape(s, p, cycles[i % CSA_N_SCHEDULES], same) : 0;

        if (n_same >= 3)
            ratio[n++] = cycles[i % CSA_N_SCHEDULES](p) / exp_spread_of(same, n_same).median;
    }
    if (ratio)
        spread = exp_spread_of(ratio, n);
    free(ratio);
    return spread;
}
