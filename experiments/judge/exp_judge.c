#include "experiments/judge/exp_judge.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>

#include "experiments/replay/exp_totals.h"
#include "sim/analysis/estimate.h"

/* Counts the lines that cross the border beyond a level, both ways. */
static double lines_beyond(const struct sim_stats *s, const struct sim_cell *sum, size_t level)
{
    const struct sim_level_counts *next = &sum->level[level + 1];

    if (level + 1 == s->n_levels)
        return (double)(sum->memory_read_lines + sum->memory_written_lines);
    return (double)(next->reads + next->writes + next->clean_fills);
}

static void judge_variant(struct exp_judgement *v, size_t i, const struct sim_machine *m, const struct exp_case *c)
{
    const struct exp_variant *variant = exp_variant_at(i);
    const struct sim_stats *s = &c->simulated.stats;
    struct sim_cell sum = sim_stats_total(s);
    struct sim_estimate memory;

    sim_estimate(&memory, m, &sum);
    v->variant[i] = exp_estimate(m, c);
    for (size_t name = 0; name < EXP_N_NAMED_LEVELS; name++)
        v->value[EXP_L1_L2_LINES + name][i] = lines_beyond(s, &sum, exp_named_level(s, name));
    v->value[EXP_EQ6_CYCLES][i] = memory.sconv_eq6_cycles;
    v->value[EXP_ESTIMATED_CYCLES][i] = exp_estimate_why_not(m) ? (double)NAN : v->variant[i].total_cycles;
    v->predicted_cycles[i] = variant->predict ? variant->predict(c) : (double)NAN;
    v->time[i] = (struct exp_judge_time){ (double)NAN, exp_ratio_none() };
}

void exp_judge(struct exp_judgement *v, const struct exp_experiment *e, size_t layer)
{
    const struct sim_machine *m = &e->setup->machine;
    const struct exp_case *first = &e->cases[layer * e->n_algos];
    const struct exp_case *base = exp_case_base(e, first);

    *v = (struct exp_judgement){
        .layer = first->layer,
        .is_pointwise = conv_is_pointwise(&first->layer->problem),
        .chosen = exp_variant_chosen(e, first),
        .speedup = (double)NAN,
        .issue_speedup = (double)NAN,
    };
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        judge_variant(v, i, m, exp_variant_case(e, first, i));
    if (!base || base->simulated.why_not || exp_estimate_why_not(m))
        return;
    v->base = exp_estimate(m, base);
    v->speedup = v->base.total_cycles / v->variant[v->chosen].total_cycles;
    v->issue_speedup = v->base.issue_cycles / v->variant[v->chosen].issue_cycles;
}

void exp_judge_look_up(struct exp_judgement *v, const struct exp_experiment *e, size_t layer,
                       const struct rec_rows *layers, enum exp_cache_state caches)
{
    const struct exp_case *first = &e->cases[layer * e->n_algos];

    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        v->time[i] = exp_judge_measured_find(layers, exp_variant_case(e, first, i), caches);
}

static bool is_timed(const struct exp_judgement *v)
{
    for (size_t i = 0; i < EXP_N_VARIANTS; i++) {
        if (isnan(v->time[i].ns))
            return false;
    }
    return !isnan(v->time[v->chosen].speedup.value);
}

static double best_ns(const struct exp_judgement *v)
{
    double best = v->time[0].ns;

    for (size_t i = 1; i < EXP_N_VARIANTS; i++)
        best = fmin(best, v->time[i].ns);
    return best;
}

static struct exp_accuracy accuracy_of(const struct exp_judgement *v, size_t n, bool is_waiting,
                                       struct exp_accuracy_pair *pair)
{
    for (size_t i = 0; i < n; i++)
        pair[i] = (struct exp_accuracy_pair){ is_waiting ? v[i].speedup : v[i].issue_speedup,
                                              v[i].time[v[i].chosen].speedup };
    return exp_accuracy_of(pair, n);
}

int exp_judge_clock_of(struct exp_judge_clock *c, const struct exp_judgement *v, size_t n)
{
    struct exp_accuracy_pair *pair = calloc(n ? n : 1, sizeof *pair);
    struct exp_estimate base = { 0 }, chosen = { 0 };
    double base_ns = 0;

    *c = (struct exp_judge_clock){ .speedup = exp_ratio_none() };
    if (!pair)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct exp_judge_time *t = &v[i].time[v[i].chosen];

        if (!is_timed(&v[i]))
            continue;
        c->n_timed++;
        c->n_pays += exp_ratio_side(&t->speedup) > 0;
        c->n_loses += exp_ratio_side(&t->speedup) < 0;
        c->n_right += t->ns <= best_ns(&v[i]);
        c->chosen_ns += t->ns;
        c->best_ns += best_ns(&v[i]);
        base_ns += t->ns * t->speedup.value;
        exp_estimate_add(&base, &v[i].base);
        exp_estimate_add(&chosen, &v[i].variant[v[i].chosen]);
    }
    if (c->n_timed)
        c->speedup.value = base_ns / c->chosen_ns;
    c->estimated_speedup = base.total_cycles / chosen.total_cycles;
    c->estimated_issue_speedup = base.issue_cycles / chosen.issue_cycles;
    c->accuracy = accuracy_of(v, n, true, pair);
    c->issue_accuracy = accuracy_of(v, n, false, pair);
    free(pair);
    return 0;
}

size_t exp_judgement_best(const struct exp_judgement *v, enum exp_yardstick y)
{
    size_t best = 0;

    for (size_t i = 1; i < EXP_N_VARIANTS; i++)
        best = v->value[y][i] < v->value[y][best] ? i : best;
    return best;
}

static double best_value(const struct exp_judgement *v, enum exp_yardstick y)
{
    return v->value[y][exp_judgement_best(v, y)];
}

bool exp_judgement_is_tie(const struct exp_judgement *v, enum exp_yardstick y)
{
    for (size_t i = 1; i < EXP_N_VARIANTS; i++) {
        if (!(v->value[y][i] == v->value[y][0]))
            return false;
    }
    return true;
}

bool exp_judgement_is_right(const struct exp_judgement *v, enum exp_yardstick y)
{
    return v->value[y][v->chosen] <= best_value(v, y);
}

double exp_judgement_regret(const struct exp_judgement *v, enum exp_yardstick y)
{
    return v->value[y][v->chosen] - best_value(v, y);
}

void exp_judge_add(struct exp_judge_total *t, const struct exp_judgement *v)
{
    assert(v->chosen < EXP_N_VARIANTS);
    t->n_layers++;
    t->n_chosen[v->chosen]++;
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++) {
        struct exp_judge_sum *s = &t->sum[y];

        s->n_right += exp_judgement_is_right(v, (enum exp_yardstick)y);
        s->n_equal += exp_judgement_is_tie(v, (enum exp_yardstick)y);
        for (size_t i = 0; i < EXP_N_VARIANTS; i++)
            s->variant[i] += v->value[y][i];
        s->chosen += v->value[y][v->chosen];
        s->best += best_value(v, (enum exp_yardstick)y);
    }
    exp_estimate_add(&t->base, &v->base);
    exp_estimate_add(&t->chosen, &v->variant[v->chosen]);
    t->n_won += v->speedup > 1;
    t->n_pointwise += v->is_pointwise;
    t->n_pointwise_won += v->is_pointwise && v->speedup > 1;
    t->max_speedup = fmax(t->max_speedup, v->speedup);
    if (v->is_pointwise)
        t->max_pointwise_speedup = fmax(t->max_pointwise_speedup, v->speedup);
}

double exp_judge_regret_percent(const struct exp_judge_sum *s)
{
    return s->best > 0 ? 100 * (s->chosen - s->best) / s->best : s->chosen > s->best ? (double)INFINITY : 0;
}
