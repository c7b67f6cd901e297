#include "experiments/peers/peers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/show/page.h"
#include "kernels/ukr/ports.h"

static double of_all(const struct exp_peers_report *r, size_t m, size_t member)
{
    const struct exp_peers_total t = exp_peers_total(r, r->n, EXP_PEERS_NETWORK, m);
    double x;

    memcpy(&x, (const char *)&t + member, sizeof x);
    return x;
}

#define OF_ALL(name, member)                                                                                           \
    static double name(const struct exp_peers_report *r, size_t m)                                                     \
    {                                                                                                                  \
        return of_all(r, m, offsetof(struct exp_peers_total, member));                                                 \
    }
OF_ALL(speedup, network_ratio)
OF_ALL(won, won_percent)
OF_ALL(pointwise_won, pointwise_won_percent)
OF_ALL(of_peak, peak_percent)

/* Returns the speed-up if every multiply-add ran at the peak. */
static double ceiling(const struct exp_peers_report *r, size_t m)
{
    (void)m;
    return 100 / of_peak(r, 0);
}

static double reached(const struct exp_peers_report *r, size_t m)
{
    return 100 * log(speedup(r, m)) / log(ceiling(r, m));
}

static double models_above(const struct exp_peers_report *r, size_t m, const char *name)
{
    const size_t peer = exp_peers_method(r->methods, name);
    double n = 0;

    for (size_t i = 0; i < r->n; i++) {
        const double there =
            peer < r->methods->n ? exp_peers_total(r, i, EXP_PEERS_NETWORK, peer).times.low_mean : (double)NAN;

        if (!(there > 0))
            return (double)NAN;
        n += exp_peers_total(r, i, EXP_PEERS_NETWORK, m).times.low_mean < there;
    }
    return 100 * n / (double)r->n;
}

static double above_nchw(const struct exp_peers_report *r, size_t m)
{
    return models_above(r, m, "onednn_nchw");
}

static double above_reorder(const struct exp_peers_report *r, size_t m)
{
    return models_above(r, m, "onednn_reorder");
}

/* Returns the mean over the networks, as in the paper's figure. */
static double packing(const struct exp_peers_report *r, size_t m)
{
    double sum = 0;

    for (size_t i = 0; i < r->n; i++) {
        const struct exp_phases x = exp_peers_phases(&r->network[i], m);

        sum += 100 * (double)exp_phases_packing_ns(&x) / (double)x.total_ns;
    }
    return sum / (double)r->n;
}

/* Returns the median of the best tenth of the layers. The single best layer would be the luckiest sample. */
static double best_layers(const struct exp_peers_report *r, size_t m)
{
    double *x = NULL, best;
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        const struct exp_peers *p = &r->network[i];

        for (size_t l = 0; l < p->n_layers; l++) {
            const double flop = 2 * conv_macs(&exp_peers_case(p, l, m)->layer->problem);
            const double percent =
                100 * flop / exp_peers_times(p, EXP_PEERS_NETWORK, l, m).low_mean / p->found.peak_gflops;

            if (isfinite(percent))
                *(double *)exp_append(&x, &n, sizeof *x) = percent;
        }
    }
    exp_stats_sort_down(x, n);
    best = n ? x[n / 20] : (double)NAN;
    free(x);
    return best;
}

/* 0: no goal. */
struct goal {
    double at_least, aim;
};

/* clang-format off */
/* goal: by enum exp_peers_core. */
static const struct {
    const char *name, *unit;
    double (*of)(const struct exp_peers_report *r, size_t m);
    struct goal goal[EXP_N_PEERS_CORES];
    double paper; /* 0: no number */
    bool less_is_better, is_papers;
} rows[EXP_N_PEERS_TARGETS] = {
    { "speed-up over base, geometric mean over the models", "", speedup,
      { { 0, 0 }, { 1.22, 1.3 }, { 0, 0 }, { 1.66, 1.8 } }, 1.19, false, false },
    { "... of SConv as in the paper", "", speedup,
      { { 0, 0 }, { 1.05, 1.12 }, { 1.18, 1.25 }, { 1.18, 1.25 } }, 1.19, false, true },
    { "what it would be with every multiply-add at the FMA peak", "", ceiling, { { 0, 0 } }, 0, false, false },
    { "how much of that is reached (logarithms)", "%", reached, { { 0, 0 } }, 0, false, false },
    { "models faster than with oneDNN, plain NCHW", "%", above_nchw, { { 0, 0 } }, 0, false, false },
    { "models faster than with oneDNN, reorders included", "%", above_reorder,
      { { 0, 0 }, { 100, 100 }, { 0, 0 }, { 100, 100 } }, 0, false, false },
    { "layers faster than base", "%", won, { { 0, 0 }, { 92, 97 }, { 99.5, 100 }, { 97, 99.5 } }, 91, false, false },
    { "pointwise layers faster than BLAS's GEMM", "%", pointwise_won,
      { { 0, 0 }, { 90, 97 }, { 0, 0 }, { 0, 0 } }, 87, false, false },
    { "packing, share of the time", "%", packing, { { 4, 2 }, { 4, 2 }, { 4, 2 }, { 4, 2 } }, 0, true, false },
    { "... of SConv as in the paper", "%", packing, { { 10, 7 }, { 10, 7 }, { 10, 7 }, { 10, 7 } }, 10, true, true },
    { "best tenth of the layers, share of the FMA peak", "%", best_layers, { { 0, 0 } }, 90, false, false },
    { "all layers, share of the FMA peak", "%", of_peak,
      { { 0, 0 }, { 88, 93 }, { 94, 96 }, { 0, 92 } }, 0, false, false },
};
/* clang-format on */

static const char *const core_names[EXP_N_PEERS_CORES] = {
    [EXP_PEERS_CORE_OTHER] = "another",
    [EXP_PEERS_CORE_AVX2] = "AVX2",
    [EXP_PEERS_CORE_AVX512_1] = "AVX-512, one FMA port",
    [EXP_PEERS_CORE_AVX512_2] = "AVX-512, two FMA ports",
};

enum exp_peers_core exp_peers_core_of(enum cpu_isa isa)
{
    struct conv_ports ports;

    if (isa == CPU_ISA_AVX2)
        return EXP_PEERS_CORE_AVX2;
    if (isa != CPU_ISA_AVX512 || !conv_ports_measure(&ports))
        return EXP_PEERS_CORE_OTHER;
    return ports.macs_per_cycle > 1 ? EXP_PEERS_CORE_AVX512_2 : EXP_PEERS_CORE_AVX512_1;
}

static double number_or_none(double x)
{
    return x > 0 ? x : (double)NAN;
}

void exp_peers_targets(const struct exp_peers_report *r, struct exp_peers_target target[EXP_N_PEERS_TARGETS])
{
    const size_t sconv = exp_peers_method(r->methods, "sconv"), tuned = exp_peers_method(r->methods, "sconv_tuned");

    for (int i = 0; i < EXP_N_PEERS_TARGETS; i++) {
        target[i] = (struct exp_peers_target){
            .name = rows[i].name,
            .unit = rows[i].unit,
            .core = core_names[r->core],
            .sconv = sconv < r->methods->n ? rows[i].of(r, sconv) : (double)NAN,
            .tuned = tuned < r->methods->n ? rows[i].of(r, tuned) : (double)NAN,
            .at_least = number_or_none(rows[i].goal[r->core].at_least),
            .aim = number_or_none(rows[i].goal[r->core].aim),
            .paper = number_or_none(rows[i].paper),
            .less_is_better = rows[i].less_is_better,
            .is_papers = rows[i].is_papers,
        };
    }
}

static const char *verdict(const struct exp_peers_target *t)
{
    double sign = t->less_is_better ? -1 : 1, is = t->is_papers ? t->sconv : t->tuned;

    if (!isfinite(is) || !isfinite(t->aim))
        return "";
    if (sign * is >= sign * t->aim)
        return "aim reached";
    if (!isfinite(t->at_least))
        return "missed";
    return sign * is >= sign * t->at_least ? "reached" : "missed";
}

void exp_peers_targets_print(const struct exp_peers_report *r, FILE *out)
{
    struct exp_peers_target target[EXP_N_PEERS_TARGETS];

    exp_peers_targets(r, target);
    fprintf(out, "\ncore: %s\n%-61s %9s %9s %9s %9s %9s\n", core_names[r->core], "targets, network", "sconv", "tuned",
            "at least", "aim", "paper");
    for (int i = 0; i < EXP_N_PEERS_TARGETS; i++) {
        const struct exp_peers_target *t = &target[i];
        const double number[] = { t->sconv, t->tuned, t->at_least, t->aim, t->paper };

        fprintf(out, "%s%s%-*s", t->name, *t->unit ? ", " : "", (int)(61 - strlen(t->name) - (*t->unit ? 2 : 0)),
                t->unit);
        for (size_t k = 0; k < sizeof number / sizeof *number; k++)
            exp_peers_print_number(number[k], out);
        fprintf(out, "   %s\n", verdict(t));
    }
}

#define TARGET struct exp_peers_target

/* clang-format off */
static const struct rec_field fields[] = {
    { { "sconv", "", "SConv as in the paper", "clock" }, REC_NAN_AS(TARGET, sconv, "not measured here") },
    { { "sconv_tuned", "", "SConv tuned for speed", "clock" }, REC_NAN_AS(TARGET, tuned, "not measured here") },
    { { "at_least", "",
        "what was to be reached on such a core by tuned SConv, or by SConv as in the paper where the row says so", "" },
      REC_NAN_AS(TARGET, at_least, "none set") },
    { { "aim", "", "what was aimed at", "" }, REC_NAN_AS(TARGET, aim, "none set") },
    { { "paper", "", "the paper's number, on its x86 machine", "SConv section 7" },
      REC_NAN_AS(TARGET, paper, "the paper has none") },
    { { "core", "", "instruction set of the micro-kernels, and its multiply-add ports, as they were timed", "" },
      REC_AT(TARGET, core) },
    { { "unit", "", "of all numbers in the row; none: a ratio", "" }, REC_AT(TARGET, unit) },
    { { "target", "", "what is counted", "" }, REC_AT(TARGET, name) },
};
/* clang-format on */

const struct rec_table exp_peers_targets_table = REC_TABLE("targets.csv", fields, TARGET);

/* ---- sentences from targets.csv ---- */

/* Targets in sentences: a target's name, and the words before, between and behind SConv's numbers. */
static const struct said_target {
    const char *target, *before, *between, *behind;
} said_targets[] = {
    { "speed-up over base, geometric mean over the models", "SConv is ", " as fast as Base, tuned SConv ",
      " (geometric means over the models)" },
    { "layers faster than base", ". They are faster than Base in ", " and ", " of the layers" },
    { "models faster than with oneDNN, plain NCHW", ", faster than oneDNN with the same layout in ", " and ",
      " of the models" },
};

/* Says a target's number with the unit; without a unit, times. */
static void say_value(const struct exp_peers_target *t, double value, char *text, size_t bytes)
{
    if (isnan(value))
        exp_say(text, bytes, "not timed");
    else if (*t->unit)
        exp_say(text, bytes, "%.3g %s", value, t->unit);
    else
        exp_say(text, bytes, "%.2f times", value);
}

static void say_target(const struct said_target *x, const struct exp_peers_target *t, char *text, size_t bytes)
{
    char sconv[48], tuned[48];

    if (strcmp(t->name, x->target))
        return;
    say_value(t, t->sconv, sconv, sizeof sconv);
    say_value(t, t->tuned, tuned, sizeof tuned);
    exp_say_more(text, bytes, "%s%s%s%s%s", x->before, sconv, x->between, tuned, x->behind);
}

void exp_peers_say_found(const char *folder, char *text, size_t bytes)
{
    struct exp_page_csv t;

    if (exp_page_csv_read_rows(&t, folder, &exp_peers_targets_table, NULL))
        return;
    for (size_t i = 0; i < sizeof said_targets / sizeof said_targets[0]; i++) {
        for (size_t row = 0; row < t.table.n_rows; row++)
            say_target(&said_targets[i], &((const struct exp_peers_target *)t.row)[row], text, bytes);
    }
    if (*text)
        exp_say_more(text, bytes, ".");
    exp_page_csv_release(&t);
}
