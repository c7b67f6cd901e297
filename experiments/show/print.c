/* The closing table: the terminal half of report.h. */
#include <string.h>

#include "counters/host/ctr_emulated.h"
#include "experiments/show/report.h"

enum { MOST_LAYERS = 40 };

static void print_number(FILE *out, int width, int digits, struct value x)
{
    if (x.why)
        fprintf(out, "%*s", width, "-");
    else
        fprintf(out, "%*.*f", width, digits, x.number);
}

static void print_percent(FILE *out, struct value misses, struct value loads)
{
    print_number(out, 8, 3, value_ratio(misses, loads, 100));
}

static void print_layer(const struct exp_report *r, const struct exp_case *first, FILE *out)
{
    const struct exp_case *chosen = NULL, *base = exp_case_base(r->e, first);
    const struct exp_case *both[2];

    for (size_t a = 0; a < r->e->n_algos; a++)
        chosen = first[a].is_chosen ? &first[a] : chosen;
    both[0] = base;
    both[1] = chosen;
    fprintf(out, "%-28.28s %8.1f  %-2s %5zu %5zu %5zu", first->layer->name, conv_macs(&first->layer->problem) / 1e6,
            csa_schedule_name(csa_choose(first->tiling)), first->tiling[csa_choose(first->tiling)].n_c,
            first->tiling[csa_choose(first->tiling)].k2, first->tiling[csa_choose(first->tiling)].k3);
    for (size_t l = 0; l < r->e->setup->machine.n_levels; l++) {
        for (int i = 0; i < 2; i++) {
            struct value of[N_MEASURES] = { [M_simulated_loads] = { .why = "not selected" } };

            if (both[i])
                measure_case(of, r, both[i]);
            print_percent(out, of[M_simulated_misses_at + l], of[M_simulated_loads]);
        }
    }
    fprintf(out, "\n");
}

static void print_layers(const struct exp_report *r, FILE *out)
{
    const struct sim_machine *m = &r->e->setup->machine;

    fprintf(out, "\n%-28s %8s  %-20s  %s\n%-59s", "", "", "CSA's plan",
            "simulated load misses, % of loads: Base's, and SConv's as CSA chose", "");
    for (size_t l = 0; l < m->n_levels; l++)
        fprintf(out, "%8.7s%8s", m->level[l].name, "");
    fprintf(out, "\n%-28s %8s  %-2s %5s %5s %5s", "layer", "Mmacs", "", "Nc", "K2", "K3");
    for (size_t l = 0; l < m->n_levels; l++)
        fprintf(out, "%8s%8s", exp_algo_base()->name, exp_algo_chosen()->name);
    fprintf(out, "\n");
    for (size_t l = 0; l < r->e->model->n_layers; l++)
        print_layer(r, &r->e->cases[l * r->e->n_algos], out);
    fprintf(out,
            "CSA's plan, from the cache sizes alone: is, ws: the input or the weights (filters) stay while the others "
            "stream past;\nNc: channels in a tile, so that a tile of each fits %s (SConv Eq. 2); K2: streaming tiles "
            "kept in %s (Eq. 4);\nK3: stationary tiles kept in %s (Eq. 5).\n",
            exp_level_name(m, 0), exp_level_name(m, 1), exp_level_name(m, 2));
}

/* Tells whether the machine is more than its caches alone. */
static bool has_two_views(const struct exp_report *r)
{
    return !sim_machine_is_plain(&r->e->setup->machine);
}

/* Prints the counters' numbers of a level: counters know three levels. */
static void print_measured(const struct exp_report *r, const struct exp_total *t, size_t level, FILE *out)
{
    const size_t name = exp_name_of_level(&r->e->setup->machine, level);

    print_number(out, 8, 3,
                 name < EXP_N_NAMED_LEVELS ? t->of[M_measured_l1_miss_percent + name]
                                           : value_none("CSA has three levels"));
}

static void print_total(const struct exp_report *r, const struct exp_total *t, const struct exp_total *base, FILE *out)
{
    const char *chosen = strcmp(t->algo, exp_algo_chosen()->name) ? "" : " (CSA's choice)";
    const size_t n_levels = r->e->setup->machine.n_levels;
    const struct value time = t->of[M_measured_time_ns], loads = t->of[M_simulated_loads];

    fprintf(out, "%s%-*s", t->algo, (int)(28 - strlen(t->algo)), chosen);
    print_number(out, 13, 3, value_or(time.number / 1e6, time.why));
    print_number(out, 10, 3,
                 value_or(t->speedup.value, time.why ? time.why
                                            : base   ? base->of[M_measured_time_ns].why
                                                     : "no base"));
    for (size_t l = 0; l < n_levels; l++) {
        if (has_two_views(r))
            print_percent(out, t->of[M_alone_misses_at + l], t->of[M_simulated_alone_loads]);
        print_percent(out, t->of[M_simulated_misses_at + l], loads);
        print_measured(r, t, l, out);
    }
    for (size_t l = 0; l < n_levels; l++)
        print_number(out, 9, 3, value_ratio(t->of[M_simulated_misses_at + l], t->of[M_macs], 1000));
    if (loads.why)
        fprintf(out, "%14s\n", "-");
    else
        fprintf(out, "%14.4g\n", loads.number);
}

static bool is_any_timed(const struct exp_total *total, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!total[i].of[M_measured_time_ns].why)
            return true;
    }
    return false;
}

enum { N_REASONS = 3 };

static const char *reason_of(const struct exp_total *t, size_t which)
{
    static const enum measure of[N_REASONS] = { M_measured_time_ns, M_simulated_loads, M_measured_l1_miss_percent };

    return t->of[of[which]].why;
}

static bool has_reason(const struct exp_total *t, size_t which, const char *reason)
{
    return reason_of(t, which) && !strcmp(reason_of(t, which), reason);
}

/*
 * Prints a reason behind the missing result and its algorithms. If all algorithms share the reason, no algorithm is
 * named.
 */
static void print_reason(const struct exp_total *total, size_t n, size_t which, const char *reason, FILE *out)
{
    static const char *const what[N_REASONS] = { "measured time", "simulation", "measured misses" };
    const char *before = " of ";
    size_t n_have = 0;

    for (size_t i = 0; i < n; i++)
        n_have += has_reason(&total[i], which, reason);
    fputs(what[which], out);
    for (size_t i = 0; i < n && n_have < n; i++) {
        if (!has_reason(&total[i], which, reason))
            continue;
        fprintf(out, "%s%s", before, total[i].algo);
        before = ", ";
    }
    fprintf(out, " not available: %s\n", reason);
}

/* Prints each distinct reason once. */
static void print_reasons(const struct exp_total *total, size_t n, FILE *out)
{
    const char *said = "";

    for (size_t i = 0; i < n; i++) {
        for (size_t which = 0; which < N_REASONS; which++) {
            const char *reason = reason_of(&total[i], which);

            if (reason && strcmp(reason, said) != 0)
                print_reason(total, n, which, reason, out);
            said = reason ? reason : said;
        }
    }
}

/*
 * Rates divide by the algorithm's own loads; misses per multiply-add compare algorithms with different numbers of
 * loads.
 */
static void print_totals_head(const struct exp_report *r, FILE *out)
{
    const struct sim_machine *m = &r->e->setup->machine;
    size_t n_levels = m->n_levels;

    fprintf(out,
            "\n%s, %zu convolutions, simulated on %s; load misses as %% of loads: simulated%s, and counted;\n"
            "then simulated per 1000 multiply-adds, which compares algorithms that make different numbers of loads\n",
            r->e->model->name, r->e->model->n_layers, m->name,
            has_two_views(r) ? " by its caches alone and as it is" : "");
    fprintf(out, "%-28s %12s %9s", "", "", "");
    for (size_t l = 0; l < n_levels; l++)
        fprintf(out, "%8.7s%*s", m->level[l].name, has_two_views(r) ? 16 : 8, "");
    fprintf(out, "  per 1000\n%-28s %12s %9s", "", "measured ms", "speed-up");
    for (size_t l = 0; l < n_levels; l++)
        fprintf(out, "%8s%s%8s", has_two_views(r) ? "alone" : "simul.", has_two_views(r) ? "   as is" : "", "counted");
    for (size_t l = 0; l < n_levels; l++)
        fprintf(out, "%9.8s", m->level[l].name);
    fprintf(out, "%14s\n", "simul. loads");
}

static void print_rounds(const struct exp_measure_info *info, FILE *out)
{
    char text[640];

    exp_measure_say_rounds(info, text, sizeof text);
    fprintf(out, "Timed in %s.\n", text);
}

void exp_report_print(const struct exp_report *r, FILE *out)
{
    struct exp_total total[EXP_MAX_ALGO_RECORDS];
    size_t n = exp_totals(r, total);
    const struct exp_total *base = exp_total_find(total, n, exp_algo_base());
    size_t n_ws = 0;

    for (size_t l = 0; l < r->e->model->n_layers; l++)
        n_ws += csa_choose(r->e->cases[l * r->e->n_algos].tiling) == CSA_WS;
    if (r->e->model->n_layers <= MOST_LAYERS)
        print_layers(r, out);
    print_totals_head(r, out);
    for (size_t i = 0; i < n; i++)
        print_total(r, &total[i], base, out);
    fprintf(out, "CSA chose weight stationary for %zu of %zu layers.\n", n_ws, r->e->model->n_layers);
    print_reasons(total, n, out);
    if (is_any_timed(total, n))
        print_rounds(r->info, out);
    if (is_any_timed(total, n) && ctr_is_emulated())
        fprintf(out, "The measured times are an emulator's: they say nothing about the CPU that it imitates.\n");
}
