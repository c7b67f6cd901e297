#include "experiments/replay/exp_totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"

static size_t level_of(size_t n_levels, size_t name)
{
    size_t last = n_levels - 1;

    return name == EXP_N_NAMED_LEVELS - 1 || name > last ? last : name;
}

size_t exp_named_level(const struct sim_stats *s, size_t name)
{
    return level_of(s->n_levels, name);
}

const char *exp_level_name(const struct sim_machine *m, size_t name)
{
    return m->level[level_of(m->n_levels, name)].name;
}

size_t exp_n_level_names(const struct sim_machine *m)
{
    return m->n_levels < EXP_N_NAMED_LEVELS ? m->n_levels : EXP_N_NAMED_LEVELS;
}

size_t exp_name_of_level(const struct sim_machine *m, size_t level)
{
    size_t name = 0;

    while (name < EXP_N_NAMED_LEVELS && level_of(m->n_levels, name) != level)
        name++;
    return name;
}

void exp_say_planned_levels(const struct sim_machine *m, char *text, size_t bytes)
{
    const size_t first = EXP_N_NAMED_LEVELS - 1, n = m->n_levels > first ? m->n_levels - 1 - first : 0;

    *text = '\0';
    if (!n)
        return;
    exp_say(text, bytes, "CSA plans for three levels: its L1, L2 and L3 are this machine's %s, %s and %s;",
            exp_level_name(m, 0), exp_level_name(m, 1), exp_level_name(m, 2));
    for (size_t i = first; i < first + n; i++)
        exp_say_more(text, bytes, "%s %s", i > first ? "," : "", m->level[i].name);
    exp_say_more(text, bytes, " %s simulated and %s in levels.csv and traffic.csv.", n > 1 ? "are" : "is",
                 n > 1 ? "stand" : "stands");
}

void exp_border_name(const struct sim_machine *m, size_t name, char *text, size_t bytes)
{
    size_t level = level_of(m->n_levels, name);

    snprintf(text, bytes, "%s-%s", m->level[level].name, level + 1 < m->n_levels ? m->level[level + 1].name : "memory");
}

double exp_load_misses(const struct sim_stats *s, const struct sim_cell *cell, size_t name)
{
    return (double)cell->level[exp_named_level(s, name)].load_misses;
}

bool exp_misses_are_few(double percent, double other_percent)
{
    return percent < EXP_FEW_PERCENT && other_percent < EXP_FEW_PERCENT;
}

double exp_loads_served(const struct sim_stats *s, const struct sim_cell *cell, size_t source)
{
    double misses = exp_load_misses(s, cell, source);

    return source == EXP_N_NAMED_LEVELS - 1 ? misses : misses - exp_load_misses(s, cell, source + 1);
}

static void add_time(struct exp_total *t, const struct exp_case *c)
{
    const struct exp_times x = exp_case_times(c);

    if (c->measured.why_no_time)
        t->why_no_time = c->measured.why_no_time;
    exp_times_add(&t->times, &x);
}

static void add_counts(struct exp_total *t, const struct exp_case *c)
{
    static const enum exp_count misses[EXP_N_NAMED_LEVELS] = { EXP_L1_LOAD_MISSES, EXP_L2_LOAD_MISSES,
                                                               EXP_L3_LOAD_MISSES };

    const char *why = exp_case_why_no_count(c, EXP_LOADS);

    t->why_no_counts = why ? why : t->why_no_counts;
    t->measured_loads += c->measured.count[EXP_LOADS];
    for (size_t l = 0; l < EXP_N_NAMED_LEVELS; l++) {
        why = exp_case_why_no_count(c, misses[l]);
        t->why_no_counts = why ? why : t->why_no_counts;
        t->measured_misses[l] += c->measured.count[misses[l]];
    }
}

static void add_simulation(double *loads, double *misses, double *at, const struct sim_stats *s)
{
    const struct sim_cell sum = sim_stats_total(s);

    *loads += (double)sum.loads;
    for (size_t l = 0; l < EXP_N_NAMED_LEVELS; l++)
        misses[l] += exp_load_misses(s, &sum, l);
    for (size_t l = 0; l < s->n_levels; l++)
        at[l] += (double)sum.level[l].load_misses;
}

static void add_simulated(struct exp_total *t, const struct exp_case *c)
{
    if (c->simulated.why_not) {
        t->why_not_simulated = c->simulated.why_not;
        return;
    }
    add_simulation(&t->simulated_loads, t->simulated_misses, t->simulated_at, &c->simulated.stats);
    add_simulation(&t->alone_loads, t->alone_misses, t->alone_at, &c->alone.stats);
}

double exp_per_1000_macs(double misses, double macs)
{
    return 1000 * misses / macs;
}

static void add_estimate(struct exp_total *t, const struct sim_machine *m, const struct exp_case *c)
{
    const char *why = exp_estimate_why_not_case(m, c);
    struct exp_estimate e = why ? (struct exp_estimate){ 0 } : exp_estimate(m, c);

    if (why)
        t->why_no_estimate = why;
    exp_estimate_add(&t->estimate, &e);
}

bool exp_total_covers(const struct exp_total *t, const struct exp_case *c)
{
    return strcmp(t->algo, exp_algo_chosen()->name) ? !strcmp(c->algo->name, t->algo) : c->is_chosen;
}

/* Compares the covered cases with Base where that ran, else with a nanosecond. */
static struct exp_ratio ratio_of(const struct exp_experiment *e, const struct exp_total *t)
{
    struct exp_pair *pair = calloc(e->model->n_layers, sizeof *pair);
    struct exp_ratio ratio = exp_ratio_none();
    size_t n = 0;

    for (size_t i = 0; i < e->n_cases && pair; i++) {
        if (exp_total_covers(t, &e->cases[i]) && n < e->model->n_layers)
            pair[n++] = exp_case_pair(e, &e->cases[i]);
    }
    if (pair)
        ratio = exp_ratio_of(pair, n);
    free(pair);
    return ratio;
}

/* Returns how many layers the total covers. */
static size_t sum_up(const struct exp_experiment *e, const char *algo, struct exp_total *t)
{
    bool is_beside_base = false;
    size_t n = 0;

    *t = (struct exp_total){ .algo = algo };
    for (size_t i = 0; i < e->n_cases; i++) {
        if (!exp_total_covers(t, &e->cases[i]))
            continue;
        add_time(t, &e->cases[i]);
        add_counts(t, &e->cases[i]);
        add_simulated(t, &e->cases[i]);
        add_estimate(t, &e->setup->machine, &e->cases[i]);
        is_beside_base = exp_case_pair(e, &e->cases[i]).base_ns != NULL;
        t->macs += conv_macs(&e->cases[i].layer->problem);
        n++;
    }
    t->speedup = is_beside_base && !t->why_no_time ? ratio_of(e, t) : exp_ratio_none();
    return n;
}

size_t exp_totals(const struct exp_experiment *e, struct exp_total *total)
{
    size_t n = 0;

    for (size_t i = 0; i < EXP_N_ALGO_RECORDS; i++)
        n += sum_up(e, exp_algo_record(i)->name, &total[n]) == e->model->n_layers;
    return n;
}

bool exp_totals_stand(const struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_algos; i++) {
        const struct exp_total t = { .algo = e->cases[i].algo->name };
        struct exp_ratio ratio = e->cases[i].measured.why_no_time ? exp_ratio_none() : ratio_of(e, &t);

        if (!e->cases[i].measured.why_no_time && !exp_ratio_stands(&ratio))
            return false;
    }
    return true;
}

const struct exp_total *exp_total_find(const struct exp_total *total, size_t n, const struct exp_algo *algo)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(total[i].algo, algo->name))
            return &total[i];
    }
    return NULL;
}
