/* Choices of a schedule, and of Base or SConv, held against the clock. */
#include "experiments/choices/study/study.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- the rules ---- */

struct choice {
    const struct exp_study_source *s;
    size_t point;
};

static double csa2_cost(const struct choice *c, enum csa_schedule schedule)
{
    return schedule != exp_study_csa2_choice(c->s, c->point);
}

static double cycles_of(const struct exp_study_point *p, enum csa_schedule schedule)
{
    return exp_study_schedule_time(p, schedule)->cycles;
}

static bool is_same_shape(const struct exp_study_point *a, const struct exp_study_point *b)
{
    return conv_problem_equal(&a->layer->problem, &b->layer->problem);
}

/* A number of a point: the cycles of a schedule, or log(IS / WS). */
enum look { AT_IS = CSA_IS, AT_WS = CSA_WS, AT_RATIO };

static double look_at(const struct exp_study_point *p, enum look look)
{
    return look == AT_RATIO ? log(cycles_of(p, CSA_IS) / cycles_of(p, CSA_WS)) : cycles_of(p, (enum csa_schedule)look);
}

/* Returns the quantiles over the first 512 layers of a point's shape and state. */
static struct exp_spread same_shape(const struct exp_study_source *s, const struct exp_study_point *own, enum look look)
{
    double value[512];
    size_t n = 0;

    for (size_t i = 0; i < s->times.n && n < sizeof value / sizeof value[0]; i++) {
        const struct exp_study_point *p = &s->times.point[i];

        if (p->state == own->state && exp_study_has_schedules(p) && is_same_shape(p, own))
            value[n++] = look_at(p, look);
    }
    return exp_spread_of(value, n);
}

static double shape_cost(const struct choice *c, enum csa_schedule schedule)
{
    return schedule == CSA_IS ? same_shape(c->s, &c->s->times.point[c->point], AT_RATIO).median : 0;
}

static double cost_of(enum exp_study_rule rule, const struct choice *c, enum csa_schedule schedule)
{
    const struct exp_study_view *view = &c->s->view[c->point][schedule];
    const struct exp_study_point *p = &c->s->times.point[c->point];

    switch (rule) {
#define RULE(upper, name, title, what, cost)                                                                           \
    case EXP_STUDY_##upper:                                                                                            \
        return cost;
#include "experiments/choices/study/rules.def"
#undef RULE
    default:
        return (double)NAN;
    }
}

const struct exp_study_names exp_study_rules[EXP_STUDY_N_RULES] = {
#define RULE(upper, name, title, ...) [EXP_STUDY_##upper] = { name, title },
#include "experiments/choices/study/rules.def"
#undef RULE
};

/* ---- sums ---- */

const char *const exp_study_state_names[] = { [CSA2_COLD] = "cold", [CSA2_WARM] = "warm" };
const char *const exp_study_part_names[] = { "all", "training", "others" };

static bool belongs(const struct exp_study_point *p, enum csa2_state state, enum exp_study_part part)
{
    return p->state == state && exp_study_has_schedules(p) && exp_study_is_in(p->is_training, part);
}

/* Makes the choice of a rule in a point. Returns false if the rule chooses nothing. */
static bool choose(struct exp_choice *c, const struct exp_study_source *s, size_t point, enum exp_study_rule rule)
{
    const struct choice of = { s, point };

    *c = (struct exp_choice){ .n = CSA_N_SCHEDULES };
    for (enum csa_schedule k = 0; k < CSA_N_SCHEDULES; k++) {
        c->by[k] = value_if_finite(cost_of(rule, &of, k), "the rule chooses nothing");
        c->cost[k] = value_of(cycles_of(&s->times.point[point], k));
    }
    if (exp_choice_lacks_number(c))
        return false;
    exp_choose(c);
    return true;
}

struct exp_study_tally exp_study_tally_of(const struct exp_study_source *s, enum exp_study_rule rule,
                                          enum csa2_state state, enum exp_study_part part)
{
    struct exp_study_tally t = { s->name, exp_study_state_names[state], exp_study_part_names[part],
                                 exp_study_rules[rule].name, .right_percent = 0 };
    struct exp_choice choice;

    assert(rule < EXP_STUDY_N_RULES && state < CSA2_N_STATES && part < EXP_STUDY_N_PARTS);
    for (size_t i = 0; i < s->times.n; i++) {
        if (!belongs(&s->times.point[i], state, part) || !choose(&choice, s, i, rule))
            continue;
        exp_choice_add(&t.all, &choice);
        if (exp_study_decides(&s->times.point[i]))
            exp_choice_add(&t.decided, &choice);
    }
    t.right_percent = exp_choice_right_percent(&t.all);
    t.decided_right_percent = value_if_finite(exp_choice_right_percent(&t.decided), "no layer is decided");
    t.regret_percent = exp_choice_regret_percent(&t.all);
    return t;
}

double exp_study_tie_of(const struct exp_study_source *s, enum csa2_state state)
{
    struct exp_study_source tried = *s; /* with the arrays of s */
    double best = 0, least = (double)INFINITY;

    assert(state < CSA2_N_STATES);

    for (int percent = 0; percent <= 20; percent++) {
        double chosen;

        tried.model.tie_share[state] = percent / 100.0;
        chosen = exp_study_tally_of(&tried, EXP_STUDY_BY_CSA2, state, EXP_STUDY_TRAINING).all.chosen;
        if (chosen <= least) {
            least = chosen;
            best = tried.model.tie_share[state];
        }
    }
    return least > 0 ? best : (double)NAN;
}

struct exp_study_accuracy exp_study_accuracy_of(const struct exp_study_source *s, enum csa2_state state,
                                                enum exp_study_part part)
{
    double *ratio = exp_new(4 * s->times.n, sizeof *ratio);
    double *predicted = ratio + 2 * s->times.n, *measured = predicted + s->times.n;
    struct exp_study_accuracy a;
    size_t n = 0;

    for (size_t i = 0; i < s->times.n; i++) {
        const struct exp_study_point *p = &s->times.point[i];

        if (!belongs(p, state, part))
            continue;
        for (enum csa_schedule k = 0; k < CSA_N_SCHEDULES; k++)
            ratio[2 * n + k] = s->view[i][k].csa2_cycles / cycles_of(p, k);
        predicted[n] = log(s->view[i][CSA_IS].csa2_cycles / s->view[i][CSA_WS].csa2_cycles);
        measured[n++] = look_at(p, AT_RATIO);
    }
    a = (struct exp_study_accuracy){ exp_spread_of(ratio, 2 * n), exp_stats_spearman(predicted, measured, n) };
    free(ratio);
    return a;
}

struct exp_spread exp_study_repeats_of(const struct exp_study_source *s, enum csa2_state state)
{
    double *ratio = exp_new(CSA_N_SCHEDULES * s->times.n, sizeof *ratio);
    struct exp_spread spread;
    size_t n = 0;

    for (size_t i = 0; i < CSA_N_SCHEDULES * s->times.n; i++) {
        const struct exp_study_point *p = &s->times.point[i / CSA_N_SCHEDULES];
        const enum look look = i % CSA_N_SCHEDULES;

        if (!belongs(p, state, EXP_STUDY_ALL))
            continue;
        spread = same_shape(s, p, look);
        if (spread.n >= 3)
            ratio[n++] = look_at(p, look) / spread.median;
    }
    spread = exp_spread_of(ratio, n);
    free(ratio);
    return spread;
}

/* ---- the better of Base and SConv ---- */

/* A layer: the choice of Base or SConv, scheduled by csa2, by predicted cycles; and the recording's second measure. */
struct match {
    const struct exp_study_point *point;
    struct exp_choice choice;
    double second_cycles[EXP_STUDY_N_SIDES];
};

static struct match match_of(const struct exp_study_source *s, size_t i)
{
    const struct exp_study_point *p = &s->times.point[i];
    const struct exp_study_sample work = exp_study_base_work(s, &s->model, p);
    const enum csa_schedule schedule = exp_study_csa2_choice(s, i);
    const struct exp_study_time *time[] = {
        [EXP_STUDY_BASE] = exp_study_base_time(p), [EXP_STUDY_SCONV] = exp_study_schedule_time(p, schedule)
    };
    struct match m = { .point = p, .choice.n = EXP_STUDY_N_SIDES };

    m.choice.by[EXP_STUDY_BASE] = value_of(exp_costs_sum(EXP_STUDY_N_BASE_TERMS, work.amount, s->base_cost));
    m.choice.by[EXP_STUDY_SCONV] = value_of(s->view[i][schedule].csa2_cycles);
    for (size_t k = 0; k < EXP_STUDY_N_SIDES; k++) {
        m.choice.cost[k] = value_of(time[k]->cycles);
        m.second_cycles[k] = time[k]->second_cycles;
    }
    exp_choose(&m.choice);
    return m;
}

static double cost(const struct match *m, size_t side)
{
    return m->choice.cost[side].number;
}

/* Adds the choice of a side by somebody who knows a measured time. */
static void add_known(struct exp_choice_sum *s, const struct match *m, bool takes_sconv)
{
    struct exp_choice choice = m->choice;

    choice.chosen = takes_sconv ? EXP_STUDY_SCONV : EXP_STUDY_BASE;
    exp_choice_add(s, &choice);
}

/* Tells whether SConv is faster in the median layer of equal shape. */
static bool wins_by_shape(const struct match *all, size_t n, const struct match *m, double *scratch)
{
    size_t n_same = 0;

    for (size_t i = 0; i < n; i++) {
        if (is_same_shape(all[i].point, m->point))
            scratch[n_same++] = cost(&all[i], EXP_STUDY_SCONV) / cost(&all[i], EXP_STUDY_BASE);
    }
    return exp_spread_of(scratch, n_same).median < 1;
}

static void find_worst(struct exp_study_hybrid *h, const struct match *all)
{
    double most = 0;

    for (size_t k = 0; k < h->sum.n; k++) {
        struct exp_choice_sum shape = { 0 };
        double lost;

        for (size_t i = 0; i < h->sum.n; i++) {
            if (is_same_shape(all[i].point, all[k].point))
                exp_choice_add(&shape, &all[i].choice);
        }
        lost = shape.chosen - shape.best;
        if (lost > most) {
            most = lost;
            h->worst = all[k].point->layer;
            h->n_worst = shape.n;
            h->worst_share = lost / (h->sum.chosen - h->sum.best);
        }
    }
}

static void sum_up(struct exp_study_hybrid *h, const struct match *all, size_t n, double *scratch)
{
    for (const struct match *m = all; m < all + n; m++) {
        exp_choice_add(&h->sum, &m->choice);
        add_known(&h->by_shape, m, wins_by_shape(all, n, m, scratch));
        add_known(&h->by_second, m, m->second_cycles[EXP_STUDY_SCONV] < m->second_cycles[EXP_STUDY_BASE]);
    }
    for (size_t i = 0; i < n; i++)
        scratch[i] = all[i].choice.by[EXP_STUDY_BASE].number / cost(&all[i], EXP_STUDY_BASE);
    h->base_spread = exp_spread_of(scratch, n);
    find_worst(h, all);
}

struct exp_study_hybrid exp_study_hybrid_of(const struct exp_study_source *s, enum csa2_state state,
                                            enum exp_study_part part)
{
    struct match *match = exp_new(s->times.n, sizeof *match);
    double *scratch = exp_new(s->times.n, sizeof *scratch);
    struct exp_study_hybrid h = { s->name, exp_study_state_names[state], exp_study_part_names[part], .n_worst = 0 };
    size_t n = 0;

    for (size_t i = 0; i < s->times.n; i++) {
        if (belongs(&s->times.point[i], state, part) && !isnan(exp_study_base_time(&s->times.point[i])->cycles))
            match[n++] = match_of(s, i);
    }
    sum_up(&h, match, n, scratch);
    free(match);
    free(scratch);
    return h;
}
