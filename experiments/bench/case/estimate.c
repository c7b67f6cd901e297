#include "experiments/bench/case/estimate.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/record.h"
#include "experiments/bench/case/cycles.h"
#include "sim/analysis/estimate.h"

const char *exp_estimate_why_not(const struct sim_machine *m)
{
    const struct sim_issue *i = &m->issue;

    if (!i->mac_rows || !i->mac_columns || !(i->mac_instructions_per_cycle > 0))
        return "the machine's file does not state mac_rows, mac_columns and mac_instructions_per_cycle";
    if (!(i->loads_per_cycle > 0) || !(i->stores_per_cycle > 0))
        return "the machine's file does not state loads_per_cycle and stores_per_cycle";
    return NULL;
}

const char *exp_estimate_why_not_case(const struct sim_machine *m, const struct exp_case *c)
{
    if (c->simulated.why_not)
        return c->simulated.why_not;
    return c->algo->plugin ? "a plug-in's multiply-add instructions are not counted" : exp_estimate_why_not(m);
}

static double slowest(double a, double b, double c)
{
    double ab = a > b ? a : b;

    return ab > c ? ab : c;
}

static double issue_cycles(const struct sim_issue *i, const struct sim_cell *phase, uint64_t mac_instructions)
{
    return slowest((double)mac_instructions / i->mac_instructions_per_cycle, (double)phase->loads / i->loads_per_cycle,
                   (double)phase->stores / i->stores_per_cycle);
}

struct exp_estimate exp_estimate_phases(const struct sim_machine *m, const struct sim_cell phase[CONV_N_PHASES],
                                        uint64_t mac_instructions)
{
    struct exp_estimate e = { 0 };

    for (unsigned p = 0; p < CONV_N_PHASES; p++) {
        double issue = issue_cycles(&m->issue, &phase[p], p == CONV_PHASE_UKR ? mac_instructions : 0);
        struct sim_estimate memory;

        sim_estimate(&memory, m, &phase[p]);
        e.issue_cycles += issue;
        e.memory_cycles += memory.sconv_eq6_cycles;
        if (p == CONV_PHASE_IM2COL || p == CONV_PHASE_PACK)
            e.packing_cycles += issue + memory.sconv_eq6_cycles;
    }
    e.total_cycles = e.issue_cycles + e.memory_cycles;
    return e;
}

struct exp_estimate exp_estimate(const struct sim_machine *m, const struct exp_case *c)
{
    struct sim_cell phase[CONV_N_PHASES];

    for (unsigned p = 0; p < CONV_N_PHASES; p++)
        phase[p] = sim_stats_phase(&c->simulated.stats, p);
    return exp_estimate_phases(m, phase, c->simulated.mac_instructions);
}

void exp_estimate_add(struct exp_estimate *sum, const struct exp_estimate *e)
{
    sum->issue_cycles += e->issue_cycles;
    sum->memory_cycles += e->memory_cycles;
    sum->total_cycles += e->total_cycles;
    sum->packing_cycles += e->packing_cycles;
}

/* ---- how far from the clock ---- */

static int side_of(double ratio)
{
    return (ratio > 1) - (ratio < 1);
}

static int by_estimated(const void *a, const void *b)
{
    double x = ((const struct exp_accuracy_pair *)a)->estimated, y = ((const struct exp_accuracy_pair *)b)->estimated;

    return (x > y) - (x < y);
}

/* Brings pairs with both numbers to the front, with the error in place of what was estimated; counts them. */
static void find_errors(struct exp_accuracy *a, struct exp_accuracy_pair *pair, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct exp_accuracy_pair p = pair[i];
        const int side = exp_ratio_side(&p.measured);

        if (isnan(p.estimated / p.measured.value))
            continue;
        a->n_sided += side != 0;
        a->n_right += side && side == side_of(p.estimated);
        pair[a->n++].estimated = p.estimated / p.measured.value;
    }
}

struct exp_accuracy exp_accuracy_of(struct exp_accuracy_pair *pair, size_t n)
{
    enum { STRIDE = sizeof *pair / sizeof pair->estimated }; /* from one number to the next */
    struct exp_accuracy a = { .p10 = (double)NAN, .median = (double)NAN, .p90 = (double)NAN };
    const double *error = &pair->estimated;

    find_errors(&a, pair, n);
    if (!a.n)
        return a;
    qsort(pair, a.n, sizeof *pair, by_estimated);
    a.p10 = gsl_stats_quantile_from_sorted_data(error, STRIDE, a.n, 0.1);
    a.median = gsl_stats_median_from_sorted_data(error, STRIDE, a.n);
    a.p90 = gsl_stats_quantile_from_sorted_data(error, STRIDE, a.n, 0.9);
    return a;
}

/* Prints "estimated / measured 0.91, 1.20, 1.75 (p10, median, p90 of 13 layers), on the right side of 1 in 9 of 12". */
static void print_accuracy(const struct exp_accuracy *a, const char *how, FILE *out)
{
    if (!a->n) {
        fprintf(out, "no layer has both an estimate and a time");
        return;
    }
    fprintf(out, "%s / measured %.2f, %.2f, %.2f (p10, median, p90 of %zu layer%s)", how, a->p10, a->median, a->p90,
            a->n, a->n == 1 ? "" : "s");
    if (a->n_sided)
        fprintf(out, ", on the right side of 1 in %zu of %zu", a->n_right, a->n_sided);
}

void exp_accuracy_say(const struct exp_accuracy *a, const char *how, double estimate, const char *assumption,
                      struct exp_ratio measured, FILE *out)
{
    int side = exp_ratio_side(&measured);

    if (side && side != side_of(estimate))
        fprintf(out, "withdrawn: %.2f %s, but %.2f measured, on the other side of 1; ", estimate, assumption,
                measured.value);
    else
        fprintf(out, "%.2f %s, measured %.2f; ", estimate, assumption, measured.value);
    print_accuracy(a, how, out);
}

/* ---- errors known from other machines ---- */

/* A row of errors.csv, as far as it is read. */
struct known_error {
    const char *machine, *commit, *rounds, *time;
    double n, n_sided, n_hit_right, n_wait_right;
    struct exp_accuracy hit, wait;
};

#define KNOWN(name, member)                                                                                            \
    {                                                                                                                  \
        { name, "", "", "" }, REC_AT(struct known_error, member)                                                       \
    }

static const struct rec_field known_fields[] = {
    KNOWN("machine", machine),
    KNOWN("timed_at_commit", commit),
    KNOWN("rounds", rounds),
    KNOWN("time", time),
    KNOWN("measured_layers", n),
    KNOWN("sided_layers", n_sided),
    KNOWN("issue_to_measured_p10", hit.p10),
    KNOWN("issue_to_measured_median", hit.median),
    KNOWN("issue_to_measured_p90", hit.p90),
    KNOWN("issue_right_layers", n_hit_right),
    KNOWN("estimated_to_measured_p10", wait.p10),
    KNOWN("estimated_to_measured_median", wait.median),
    KNOWN("estimated_to_measured_p90", wait.p90),
    KNOWN("estimated_right_layers", n_wait_right),
};

static const struct rec_table known_table = REC_TABLE("errors.csv", known_fields, struct known_error);

static void say_machine(const struct known_error *k, FILE *out)
{
    struct exp_accuracy hit = k->hit, wait = k->wait;

    hit.n = wait.n = (size_t)k->n;
    hit.n_sided = wait.n_sided = (size_t)k->n_sided;
    hit.n_right = (size_t)k->n_hit_right;
    wait.n_right = (size_t)k->n_wait_right;
    fprintf(out, "On %s (timed at commit %s, the %s of %s rounds): ", k->machine, k->commit, k->time, k->rounds);
    print_accuracy(&hit, "estimated", out);
    fprintf(out, ", %s; ", EXP_IF_ALL_HIT);
    print_accuracy(&wait, "estimated", out);
    fprintf(out, ", %s.", EXP_IF_ALL_WAIT);
}

void exp_known_errors_say(const char *experiments_dir, FILE *out)
{
    char *path = exp_format("%s/estimates/errors.csv", experiments_dir);
    struct rec_rows rows;
    struct exp_why why;

    if (rec_read_some(&rows, &known_table, path, NULL, REC_ALL, &why))
        fprintf(out, "Nothing is known of its error: %s.", why.text);
    for (size_t i = 0; i < rows.n; i++) {
        fputs(i ? " " : "", out);
        say_machine((const struct known_error *)rows.row + i, out);
    }
    rec_release(&rows);
    free(path);
}

/* ---- sums over the layers ---- */

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

    t->why_no_time = t->why_no_time ? t->why_no_time : c->measured.why_no_time;
    exp_times_add(&t->times, &x);
}

static void add_counts(struct exp_total *t, const struct exp_case *c)
{
    static const enum exp_count misses[EXP_N_NAMED_LEVELS] = { EXP_L1_LOAD_MISSES, EXP_L2_LOAD_MISSES,
                                                               EXP_L3_LOAD_MISSES };

    const char *why = exp_case_why_no_count(c, EXP_LOADS);

    t->why_no_counts = t->why_no_counts ? t->why_no_counts : why;
    t->measured_loads += c->measured.count[EXP_LOADS];
    for (size_t l = 0; l < EXP_N_NAMED_LEVELS; l++) {
        why = exp_case_why_no_count(c, misses[l]);
        t->why_no_counts = t->why_no_counts ? t->why_no_counts : why;
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
        t->why_not_simulated = t->why_not_simulated ? t->why_not_simulated : c->simulated.why_not;
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

static void add_cycles(struct exp_total *t, const struct exp_setup *s, const struct exp_case *c)
{
    const char *why = exp_cycles_why_not(s, c);

    t->why_no_cycles = why ? why : t->why_no_cycles;
    t->cycles += why ? 0 : exp_cycles(c).sum;
}

bool exp_total_covers(const struct exp_total *t, const struct exp_case *c)
{
    return strcmp(t->algo, exp_algo_chosen()->name) ? !strcmp(c->algo->name, t->algo) : c->is_chosen;
}

/* Compares the covered cases that were timed with Base where that ran, else with a nanosecond. */
static struct exp_ratio ratio_of(const struct exp_experiment *e, const struct exp_total *t)
{
    struct exp_pair *pair = exp_new(e->model->n_layers, sizeof *pair);
    struct exp_ratio ratio;
    size_t n = 0;

    for (size_t i = 0; i < e->n_cases; i++) {
        if (exp_total_covers(t, &e->cases[i]) && !e->cases[i].measured.why_no_time && n < e->model->n_layers)
            pair[n++] = exp_case_pair(e, &e->cases[i]);
    }
    ratio = exp_ratio_of(pair, n);
    free(pair);
    return ratio;
}

/* Returns how many layers the total covers. */
static size_t sum_up(const struct exp_experiment *e, const char *algo, struct exp_total *t)
{
    bool is_beside_base = false;
    size_t n = 0, n_timed = 0;

    *t = (struct exp_total){ .algo = algo };
    for (size_t i = 0; i < e->n_cases; i++) {
        if (!exp_total_covers(t, &e->cases[i]))
            continue;
        add_time(t, &e->cases[i]);
        add_counts(t, &e->cases[i]);
        add_simulated(t, &e->cases[i]);
        add_estimate(t, &e->setup->machine, &e->cases[i]);
        add_cycles(t, e->setup, &e->cases[i]);
        is_beside_base = exp_case_pair(e, &e->cases[i]).base_ns != NULL;
        t->macs += conv_macs(&e->cases[i].layer->problem);
        n_timed += !e->cases[i].measured.why_no_time;
        n++;
    }
    t->part = is_beside_base && n_timed ? ratio_of(e, t) : exp_ratio_none();
    t->speedup = t->why_no_time ? exp_ratio_none() : t->part;
    return n;
}

size_t exp_totals(const struct exp_experiment *e, struct exp_total *total)
{
    size_t n = 0;

    for (size_t i = 0; i < exp_algo_record_count(); i++)
        n += sum_up(e, exp_algo_record(i)->name, &total[n]) == e->model->n_layers;
    return n;
}

bool exp_totals_stand(const struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_algos; i++) {
        const struct exp_total t = { .algo = e->cases[i].algo->name };
        const struct exp_ratio ratio = ratio_of(e, &t);

        if (isfinite(ratio.value) && !exp_ratio_stands(&ratio))
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
