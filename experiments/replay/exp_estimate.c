#include "experiments/replay/exp_estimate.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_table.h"
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
    return c->simulated.why_not ? c->simulated.why_not : exp_estimate_why_not(m);
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
static void print_accuracy(const struct exp_accuracy *a, FILE *out)
{
    if (!a->n) {
        fprintf(out, "no layer has both an estimate and a time");
        return;
    }
    fprintf(out, "estimated / measured %.2f, %.2f, %.2f (p10, median, p90 of %zu layer%s)", a->p10, a->median, a->p90,
            a->n, a->n == 1 ? "" : "s");
    if (a->n_sided)
        fprintf(out, ", on the right side of 1 in %zu of %zu", a->n_right, a->n_sided);
}

void exp_accuracy_say(const struct exp_accuracy *a, double estimate, const char *assumption, struct exp_ratio measured,
                      FILE *out)
{
    int side = exp_ratio_side(&measured);

    if (side && side != side_of(estimate))
        fprintf(out, "withdrawn, %.2f %s: the clock says %.2f; ", estimate, assumption, measured.value);
    else
        fprintf(out, "%.2f %s, measured %.2f; ", estimate, assumption, measured.value);
    print_accuracy(a, out);
}

/* ---- errors known from other machines ---- */

enum {
    MACHINE,
    COMMIT,
    ROUNDS,
    TIME,
    LAYERS,
    SIDED,
    HIT_P10,
    HIT_MEDIAN,
    HIT_P90,
    HIT_RIGHT,
    WAIT_P10,
    WAIT_MEDIAN,
    WAIT_P90,
    WAIT_RIGHT,
    N
};

static const char *const names[N] = {
    "machine",
    "timed_at_commit",
    "rounds",
    "time",
    "measured_layers",
    "sided_layers",
    "issue_to_measured_p10",
    "issue_to_measured_median",
    "issue_to_measured_p90",
    "issue_right_layers",
    "estimated_to_measured_p10",
    "estimated_to_measured_median",
    "estimated_to_measured_p90",
    "estimated_right_layers",
};

static int find_columns(const struct exp_table *t, size_t column[N], struct exp_why *why)
{
    int err = 0;

    for (int i = 0; i < N && !err; i++)
        err = exp_table_column(t, names[i], &column[i], why);
    return err;
}

static double number(const struct exp_table *t, size_t row, size_t column)
{
    double value = (double)NAN;
    struct exp_why ignored;

    exp_table_double(t, row, column, &value, &ignored);
    return value;
}

static struct exp_accuracy accuracy_of(const struct exp_table *t, size_t row, const size_t *column, int first)
{
    return (struct exp_accuracy){
        .n = (size_t)number(t, row, column[LAYERS]),
        .p10 = number(t, row, column[first]),
        .median = number(t, row, column[first + 1]),
        .p90 = number(t, row, column[first + 2]),
        .n_sided = (size_t)number(t, row, column[SIDED]),
        .n_right = (size_t)number(t, row, column[first + 3]),
    };
}

static void say_machine(const struct exp_table *t, size_t row, const size_t column[N], FILE *out)
{
    const struct exp_accuracy hit = accuracy_of(t, row, column, HIT_P10), wait = accuracy_of(t, row, column, WAIT_P10);

    fprintf(out, "%sOn %s (timed at commit %s, the %s of %s rounds): ", row ? " " : "",
            exp_table_string(t, row, column[MACHINE]), exp_table_string(t, row, column[COMMIT]),
            exp_table_string(t, row, column[TIME]), exp_table_string(t, row, column[ROUNDS]));
    print_accuracy(&hit, out);
    fprintf(out, ", %s; ", EXP_IF_ALL_HIT);
    print_accuracy(&wait, out);
    fprintf(out, ", %s.", EXP_IF_ALL_WAIT);
}

void exp_known_errors_say(const char *experiments_dir, FILE *out)
{
    char *path = exp_format("%s/estimates/errors.csv", experiments_dir);
    struct exp_why why = { "out of memory" };
    struct exp_table t = { 0 };
    size_t column[N];
    int err = path ? exp_table_read(&t, path, &why) : -1;

    if (!err)
        err = find_columns(&t, column, &why);
    if (err)
        fprintf(out, "Nothing is known of its error: %s.", why.text);
    for (size_t row = 0; row < t.n_rows && !err; row++)
        say_machine(&t, row, column, out);
    exp_table_release(&t);
    free(path);
}
