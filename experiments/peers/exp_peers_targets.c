#include "experiments/peers/exp_peers_targets.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_stats.h"
#include "kernels/ukr/ports.h"

/* A number of one method over all models. */
typedef double (*number_fn)(const struct exp_peers_report *r, enum exp_peer m);

static struct exp_peers_total all(const struct exp_peers_report *r, enum exp_peer m)
{
    return exp_peers_total(r, r->n_models, EXP_PEERS_SWEEP, m);
}

static double speedup(const struct exp_peers_report *r, enum exp_peer m)
{
    return all(r, m).network_ratio;
}

/* Returns the speed-up if every multiply-add ran at the peak. */
static double ceiling(const struct exp_peers_report *r, enum exp_peer m)
{
    (void)m;
    return 100 / all(r, EXP_PEER_BASE).peak_percent;
}

static double reached(const struct exp_peers_report *r, enum exp_peer m)
{
    return 100 * log(speedup(r, m)) / log(ceiling(r, m));
}

static double models_above(const struct exp_peers_report *r, enum exp_peer m, enum exp_peer peer)
{
    double n = 0;

    for (size_t i = 0; i < r->n_models; i++) {
        double there = exp_peers_total(r, i, EXP_PEERS_SWEEP, peer).times.low_mean;

        if (!(there > 0))
            return (double)NAN;
        n += exp_peers_total(r, i, EXP_PEERS_SWEEP, m).times.low_mean < there;
    }
    return 100 * n / (double)r->n_models;
}

static double above_nchw(const struct exp_peers_report *r, enum exp_peer m)
{
    return models_above(r, m, EXP_PEER_NCHW);
}

static double above_reorder(const struct exp_peers_report *r, enum exp_peer m)
{
    return models_above(r, m, EXP_PEER_REORDER);
}

static double won(const struct exp_peers_report *r, enum exp_peer m)
{
    return all(r, m).won_percent;
}

static double pointwise_won(const struct exp_peers_report *r, enum exp_peer m)
{
    return all(r, m).n_pointwise ? all(r, m).pointwise_won_percent : (double)NAN;
}

/* Returns the mean over the models, as the paper's figure shows them side by side. */
static double packing(const struct exp_peers_report *r, enum exp_peer m)
{
    double sum = 0;

    for (size_t i = 0; i < r->n_models; i++) {
        const struct exp_phases *x = &r->model[i].sconv[m - EXP_PEER_SCONV];

        sum += 100 * (double)exp_phases_packing_ns(x) / (double)x->total_ns;
    }
    return sum / (double)r->n_models;
}

static double of_peak(const struct exp_peers_report *r, enum exp_peer m)
{
    return all(r, m).peak_percent;
}

/*
 * Returns the median of the tenth part of the layers that does best. A single best layer would be the luckiest sample.
 */
static double best_layers(const struct exp_peers_report *r, enum exp_peer m)
{
    double *x = calloc(r->n_rows + 1, sizeof *x), best;
    size_t n = 0;

    if (!x)
        return (double)NAN;
    for (size_t i = 0; i < r->n_rows; i++) {
        double percent =
            100 * r->row[i].flop / r->row[i].times[EXP_PEERS_SWEEP][m].low_mean / r->model[r->row[i].model].peak_gflops;

        if (isfinite(percent))
            x[n++] = percent;
    }
    exp_stats_sort_down(x, n);
    best = n ? x[n / 20] : (double)NAN;
    free(x);
    return best;
}

/* 0: none. */
struct goal {
    double at_least, aim;
};

/* The same on every core. */
#define EVERYWHERE(at_least, aim)                                                                                      \
    {                                                                                                                  \
        { at_least, aim }, { at_least, aim }, { at_least, aim },                                                       \
        {                                                                                                              \
            at_least, aim                                                                                              \
        }                                                                                                              \
    }

/* By enum exp_peers_core. */
static const struct {
    const char *name, *unit;
    number_fn of;
    struct goal goal[EXP_N_PEERS_CORES];
    double paper; /* 0: none */
    bool less_is_better, is_papers;
} rows[EXP_N_PEERS_TARGETS] = {
    { "speed-up over base, geometric mean over the models",
      "",
      speedup,
      { { 0, 0 }, { 1.22, 1.3 }, { 0, 0 }, { 1.66, 1.8 } },
      1.19,
      false,
      false },
    { "... of SConv as in the paper",
      "",
      speedup,
      { { 0, 0 }, { 1.05, 1.12 }, { 1.18, 1.25 }, { 1.18, 1.25 } },
      1.19,
      false,
      true },
    { "what it would be with every multiply-add at the FMA peak", "", ceiling, EVERYWHERE(0, 0), 0, false, false },
    { "how much of that is reached (logarithms)", "%", reached, EVERYWHERE(0, 0), 0, false, false },
    { "models faster than with oneDNN, plain NCHW", "%", above_nchw, EVERYWHERE(0, 0), 0, false, false },
    { "models faster than with oneDNN, reorders included",
      "%",
      above_reorder,
      { { 0, 0 }, { 100, 100 }, { 0, 0 }, { 100, 100 } },
      0,
      false,
      false },
    { "layers faster than base", "%", won, { { 0, 0 }, { 92, 97 }, { 99.5, 100 }, { 97, 99.5 } }, 91, false, false },
    { "pointwise layers faster than BLAS's GEMM",
      "%",
      pointwise_won,
      { { 0, 0 }, { 90, 97 }, { 0, 0 }, { 0, 0 } },
      87,
      false,
      false },
    { "packing, share of the time", "%", packing, EVERYWHERE(4, 2), 0, true, false },
    { "... of SConv as in the paper", "%", packing, EVERYWHERE(10, 7), 10, true, true },
    { "best tenth of the layers, share of the FMA peak", "%", best_layers, EVERYWHERE(0, 0), 90, false, false },
    { "all layers, share of the FMA peak",
      "%",
      of_peak,
      { { 0, 0 }, { 88, 93 }, { 94, 96 }, { 0, 92 } },
      0,
      false,
      false },
};

const char *exp_peers_core_name(enum exp_peers_core core)
{
    static const char *const names[EXP_N_PEERS_CORES] = {
        [EXP_PEERS_CORE_OTHER] = "another",
        [EXP_PEERS_CORE_AVX2] = "AVX2",
        [EXP_PEERS_CORE_AVX512_1] = "AVX-512, one FMA port",
        [EXP_PEERS_CORE_AVX512_2] = "AVX-512, two FMA ports",
    };

    return names[core];
}

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
    for (int i = 0; i < EXP_N_PEERS_TARGETS; i++) {
        target[i] = (struct exp_peers_target){
            .name = rows[i].name,
            .unit = rows[i].unit,
            .core = exp_peers_core_name(r->core),
            .sconv = rows[i].of(r, EXP_PEER_SCONV),
            .tuned = rows[i].of(r, EXP_PEER_TUNED),
            .at_least = number_or_none(rows[i].goal[r->core].at_least),
            .aim = number_or_none(rows[i].goal[r->core].aim),
            .paper = number_or_none(rows[i].paper),
            .less_is_better = rows[i].less_is_better,
            .is_papers = rows[i].is_papers,
        };
    }
}

static void print_cell(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, " %9.2f", x);
    else
        fprintf(out, " %9s", "-");
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
    fprintf(out, "\ncore: %s", exp_peers_core_name(r->core));
    fprintf(out, "\n%-61s %9s %9s %9s %9s %9s\n", "targets, network sweep", "sconv", "tuned", "at least", "aim",
            "paper");
    for (int i = 0; i < EXP_N_PEERS_TARGETS; i++) {
        const struct exp_peers_target *t = &target[i];

        fprintf(out, "%s%s%-*s", t->name, *t->unit ? ", " : "", (int)(61 - strlen(t->name) - (*t->unit ? 2 : 0)),
                t->unit);
        print_cell(out, t->sconv);
        print_cell(out, t->tuned);
        print_cell(out, t->at_least);
        print_cell(out, t->aim);
        print_cell(out, t->paper);
        fprintf(out, "%s%s\n", *verdict(t) ? "   " : "", verdict(t));
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

int exp_peers_targets_write(const struct exp_peers_report *r, const char *what, struct exp_why *why)
{
    struct exp_peers_target target[EXP_N_PEERS_TARGETS];

    exp_peers_targets(r, target);
    return rec_write(&exp_peers_targets_table, target, EXP_N_PEERS_TARGETS, r->dir, what, why);
}
