#include "experiments/judge/exp_judge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>

#include "experiments/replay/exp_totals.h"
#include "sim/analysis/estimate.h"

static const struct {
    const char *name, *label; /* without label: lines beyond the level of that number */
} yardsticks[EXP_N_YARDSTICKS] = {
    [EXP_L1_L2_LINES] = { "l1_l2_lines", NULL },
    [EXP_L2_L3_LINES] = { "l2_l3_lines", NULL },
    [EXP_L3_MEMORY_LINES] = { "l3_memory_lines", NULL },
    [EXP_EQ6_CYCLES] = { "eq6_cycles", "Eq. 6, simulated" },
    [EXP_ESTIMATED_CYCLES] = { "estimated_cycles", "estimated cycles" },
};

const char *exp_yardstick_name(enum exp_yardstick y)
{
    return yardsticks[y].name;
}

void exp_yardstick_label(enum exp_yardstick y, const struct sim_machine *m, char *text, size_t bytes)
{
    char border[40];

    if (yardsticks[y].label) {
        snprintf(text, bytes, "%s", yardsticks[y].label);
        return;
    }
    exp_border_name(m, (size_t)y - EXP_L1_L2_LINES, border, sizeof border);
    snprintf(text, bytes, "lines %s", border);
}

/* Lines that cross the border beyond a level, both ways. */
static double lines_beyond(const struct sim_stats *s, const struct sim_cell *sum, size_t level)
{
    const struct sim_level_counts *next = &sum->level[level + 1];

    if (level + 1 == s->n_levels)
        return (double)(sum->memory_read_lines + sum->memory_written_lines);
    return (double)(next->reads + next->writes + next->clean_fills);
}

static void judge_schedule(struct exp_judgement *v, const struct sim_machine *m, const struct exp_case *c)
{
    const struct sim_stats *s = &c->simulated.stats;
    struct sim_cell sum = sim_stats_total(s);
    enum csa_schedule which = c->algo->schedule;
    struct sim_estimate memory;

    sim_estimate(&memory, m, &sum);
    v->schedule[which] = exp_estimate(m, c);
    for (size_t name = 0; name < EXP_N_NAMED_LEVELS; name++)
        v->value[EXP_L1_L2_LINES + name][which] = lines_beyond(s, &sum, exp_named_level(s, name));
    v->value[EXP_EQ6_CYCLES][which] = memory.sconv_eq6_cycles;
    v->value[EXP_ESTIMATED_CYCLES][which] = exp_estimate_why_not(m) ? (double)NAN : v->schedule[which].total_cycles;
    v->predicted_cycles[which] = c->tiling[which].total_cycles;
}

void exp_judge(struct exp_judgement *v, const struct exp_experiment *e, size_t layer)
{
    const struct sim_machine *m = &e->setup->machine;
    const struct exp_case *first = &e->cases[layer * e->n_algos];
    const struct exp_case *base = exp_case_base(e, first);

    *v = (struct exp_judgement){
        .layer = first->layer,
        .is_pointwise = conv_is_pointwise(&first->layer->problem),
        .chosen = csa_choose(first->tiling),
        .speedup = (double)NAN,
        .issue_speedup = (double)NAN,
        .time = { { (double)NAN, exp_ratio_none() }, { (double)NAN, exp_ratio_none() } },
    };
    for (size_t i = 0; i < e->n_algos; i++) {
        if (first[i].algo->when == EXP_ALGO_MEMBER)
            judge_schedule(v, m, &first[i]);
    }
    if (!base || base->simulated.why_not || exp_estimate_why_not(m))
        return;
    v->base = exp_estimate(m, base);
    v->speedup = v->base.total_cycles / v->schedule[v->chosen].total_cycles;
    v->issue_speedup = v->base.issue_cycles / v->schedule[v->chosen].issue_cycles;
}

void exp_judge_look_up(struct exp_judgement *v, const struct exp_experiment *e, size_t layer,
                       const struct exp_judge_measured *m, enum exp_cache_state caches)
{
    const struct exp_case *first = &e->cases[layer * e->n_algos];

    for (size_t i = 0; i < e->n_algos; i++) {
        if (first[i].algo->when == EXP_ALGO_MEMBER)
            v->time[first[i].algo->schedule] = exp_judge_measured_find(m, &first[i], caches);
    }
}

static bool is_timed(const struct exp_judgement *v)
{
    return !isnan(v->time[CSA_IS].ns) && !isnan(v->time[CSA_WS].ns) && !isnan(v->time[v->chosen].speedup.value);
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
        c->n_right += t->ns <= v[i].time[!v[i].chosen].ns;
        c->chosen_ns += t->ns;
        c->best_ns += fmin(v[i].time[CSA_IS].ns, v[i].time[CSA_WS].ns);
        base_ns += t->ns * t->speedup.value;
        exp_estimate_add(&base, &v[i].base);
        exp_estimate_add(&chosen, &v[i].schedule[v[i].chosen]);
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

static double best(const struct exp_judgement *v, enum exp_yardstick y)
{
    return v->value[y][CSA_WS] < v->value[y][CSA_IS] ? v->value[y][CSA_WS] : v->value[y][CSA_IS];
}

bool exp_judgement_is_right(const struct exp_judgement *v, enum exp_yardstick y)
{
    return v->value[y][v->chosen] <= best(v, y);
}

double exp_judgement_regret(const struct exp_judgement *v, enum exp_yardstick y)
{
    return v->value[y][v->chosen] - best(v, y);
}

void exp_judge_add(struct exp_judge_total *t, const struct exp_judgement *v)
{
    t->n_layers++;
    t->n_chosen[v->chosen]++;
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++) {
        struct exp_judge_sum *s = &t->sum[y];

        s->n_right += exp_judgement_is_right(v, (enum exp_yardstick)y);
        s->n_equal += v->value[y][CSA_IS] == v->value[y][CSA_WS];
        s->schedule[CSA_IS] += v->value[y][CSA_IS];
        s->schedule[CSA_WS] += v->value[y][CSA_WS];
        s->chosen += v->value[y][v->chosen];
        s->best += best(v, (enum exp_yardstick)y);
    }
    exp_estimate_add(&t->base, &v->base);
    exp_estimate_add(&t->chosen, &v->schedule[v->chosen]);
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
