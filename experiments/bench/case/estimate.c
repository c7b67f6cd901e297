#include "experiments/bench/case/estimate.h"

#include <assert.h>
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

struct exp_estimate exp_no_estimate(const char *why)
{
    const double nan = (double)NAN;

    return (struct exp_estimate){ nan, nan, nan, nan, why };
}

struct exp_estimate exp_estimate(const struct sim_machine *m, const struct exp_case *c)
{
    const char *why = c->simulated.why  ? c->simulated.why
                      : c->algo->plugin ? "a plug-in's multiply-add instructions are not counted"
                                        : exp_estimate_why_not(m);
    struct sim_cell phase[CONV_N_PHASES];

    if (why)
        return exp_no_estimate(why);
    for (unsigned p = 0; p < CONV_N_PHASES; p++)
        phase[p] = sim_stats_phase(&c->simulated.stats, p);
    return exp_estimate_phases(m, phase, c->simulated.mac_instructions);
}

void exp_estimate_add(struct exp_estimate *sum, const struct exp_estimate *e)
{
    assert(sum && e);
    sum->issue_cycles += e->issue_cycles;
    sum->memory_cycles += e->memory_cycles;
    sum->total_cycles += e->total_cycles;
    sum->packing_cycles += e->packing_cycles;
    sum->why = sum->why ? sum->why : e->why;
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

/* Moves pairs with both numbers to the front, replaces estimates by errors, and counts the pairs. */
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

/* The columns of errors.csv that are read, of one row. */
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

/* ---- levels by their names ---- */

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

double exp_lines_beyond(size_t n_levels, const struct sim_cell *cell, size_t name)
{
    const size_t next = level_of(n_levels, name) + 1;

    if (next == n_levels)
        return (double)(cell->memory_read_lines + cell->memory_written_lines);
    return (double)(cell->level[next].reads + cell->level[next].writes + cell->level[next].clean_fills);
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

double exp_per_1000_macs(double misses, double macs)
{
    return 1000 * misses / macs;
}
