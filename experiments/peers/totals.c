#include "experiments/peers/peers.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"
#include "experiments/base/error.h"
#include "experiments/base/stats.h"
#include "experiments/show/page.h"
#include "kernels/ukr/ports.h"

static struct exp_peers_total total_of_one(const struct exp_peers_report *r, size_t model, enum exp_peers_cache c,
                                           enum exp_peer m)
{
    struct exp_peers_total t = { 0 };
    double base_ns = 0, logs = 0, flop = 0;
    size_t n_won = 0, n_pointwise_won = 0;

    for (size_t i = 0; i < r->n_rows; i++) {
        const struct exp_peers_row *row = &r->row[i];
        const struct exp_times *base = &row->times[c][EXP_PEER_BASE];
        double ratio = base->low_mean / row->times[c][m].low_mean;

        if ((model < r->n_models && row->model != model) || !isfinite(ratio))
            continue;
        t.n_layers++;
        t.n_pointwise += row->is_pointwise;
        n_won += ratio > 1;
        n_pointwise_won += row->is_pointwise && ratio > 1;
        exp_times_add(&t.times, &row->times[c][m]);
        base_ns += base->low_mean;
        logs += log(ratio);
        flop += row->flop;
    }
    if (!t.n_layers)
        t.times = exp_times_of(NULL, 0);
    t.network_ratio = base_ns / t.times.low_mean;
    t.geomean_ratio = exp(logs / (double)t.n_layers);
    t.won_percent = 100 * (double)n_won / (double)t.n_layers;
    t.pointwise_won_percent = 100 * (double)n_pointwise_won / (double)t.n_pointwise;
    t.peak_percent = model < r->n_models && r->model[model].peak_gflops > 0
                         ? 100 * flop / t.times.low_mean / r->model[model].peak_gflops
                         : (double)NAN;
    return t;
}

struct exp_peers_total exp_peers_total(const struct exp_peers_report *r, size_t model, enum exp_peers_cache c,
                                       enum exp_peer m)
{
    struct exp_peers_total all = total_of_one(r, model, c, m);
    double network = 0, layers = 0, peak = 0, n = (double)r->n_models;

    assert(c < EXP_N_PEERS_CACHES && m < EXP_N_PEERS && model <= r->n_models);
    if (model < r->n_models)
        return all;
    for (size_t i = 0; i < r->n_models; i++) {
        struct exp_peers_total t = total_of_one(r, i, c, m);

        network += log(t.network_ratio);
        layers += log(t.geomean_ratio);
        peak += log(t.peak_percent);
    }
    all.network_ratio = exp(network / n);
    all.geomean_ratio = exp(layers / n);
    all.peak_percent = exp(peak / n);
    return all;
}

/* ---- model.csv ---- */

struct total_row {
    const char *model, *method, *cache;
    struct exp_peers_total total;
    struct exp_ratio speedup;
    size_t n_rounds;
    const char *end;
    double peak_gflops, read_gbytes;
    const char *why, *why_no_interval, *why_no_rounds, *why_not_won, *why_no_peak;
};

#define ROW struct total_row

/* clang-format off */
static const struct rec_field fields[] = {
    { { "model", "", "name of the layer table; all: geometric means over the models, shares of all layers", "" },
      REC_AT(ROW, model) },
    { { "method", "", "as in layers.csv", "" }, REC_AT(ROW, method) },
    { { "cache", "", "as in layers.csv", "" }, REC_AT(ROW, cache) },
    { { "layers", "", "convolutions that were timed", "" }, REC_AT(ROW, total.n_layers) },
    { { "pointwise_layers", "", "of those, pointwise ones", "" }, REC_AT(ROW, total.n_pointwise) },
    EXP_FIELDS_SUMS(ROW, total.times, why),
    { { "measured_network_speedup", "", "base's measured_time_ns / this one", "clock" },
      REC_NAN_OR(ROW, total.network_ratio, why) },
    EXP_FIELDS_INTERVAL(ROW, speedup, why_no_interval),
    EXP_FIELDS_ROUNDS(ROW, n_rounds, end, why_no_rounds, "", " sweeps"),
    { { "measured_layers_speedup", "",
        "geometric mean over the layers of base's measured_time_ns / this one", "clock" },
      REC_NAN_OR(ROW, total.geomean_ratio, why) },
    { { "measured_won_percent", "%", "layers faster than base", "clock" },
      REC_NAN_OR(ROW, total.won_percent, why_not_won) },
    { { "measured_pointwise_won_percent", "%", "pointwise layers faster than base, which is BLAS's GEMM alone there",
        "clock" },
      REC_NAN_OR(ROW, total.pointwise_won_percent, why_not_won) },
    { { "measured_peak_percent", "%", "of the FMA peak sampled in the same run", "clock" },
      REC_NAN_OR(ROW, total.peak_percent, why) },
    { { "peak_gflops", "GFLOP/s", "that peak: the highest sample", "clock" },
      REC_NAN_OR(ROW, peak_gflops, why_no_peak) },
    { { "read_gbytes", "GB/s", "reading 128 MiB with vector loads, same run", "clock" },
      REC_NAN_OR(ROW, read_gbytes, why_no_peak) },
};
/* clang-format on */

const struct rec_table exp_peers_model_table = REC_TABLE("model.csv", fields, ROW);

static const char *why_no_total(const struct exp_peers_report *r, size_t model, enum exp_peers_cache c, enum exp_peer m)
{
    size_t first = model < r->n_models ? model : 0;

    if (*r->model[first].why_not[m])
        return r->model[first].why_not[m];
    for (size_t i = first; i < r->n_models && (i == first || model == r->n_models); i++) {
        if (*r->model[i].why_disturbed[c])
            return r->model[i].why_disturbed[c];
    }
    return c == EXP_PEERS_HOT ? "not asked for (HOT=0), or no such layers" : "no such layers";
}

static void put_total(const struct exp_peers_report *r, struct exp_csv *csv, size_t model, enum exp_peers_cache c,
                      enum exp_peer m)
{
    const struct exp_peers_model *one = model < r->n_models ? &r->model[model] : NULL;
    const bool has_peak = one && one->peak_gflops > 0;
    const char *why = why_no_total(r, model, c, m);
    ROW row = {
        .model = one ? one->name : "all",
        .method = exp_peer_name(m),
        .cache = exp_peers_cache_name(c),
        .total = exp_peers_total(r, model, c, m),
        .speedup = one ? one->speedup[c][m] : exp_ratio_none(),
        .n_rounds = one ? one->n_rounds[c] : 0,
        .end = exp_end_text(one && c == EXP_PEERS_SWEEP ? one->end : EXP_END_FIXED),
        .peak_gflops = has_peak ? one->peak_gflops : (double)NAN,
        .read_gbytes = has_peak ? one->read_gbytes : (double)NAN,
        .why = why,
        .why_not_won = m == EXP_PEER_BASE ? "this is base" : why,
        .why_no_peak = one ? "no FMA loop for this CPU" : "sampled per model",
    };

    row.why_no_interval = !row.total.n_layers ? why : one ? EXP_RATIO_NO_INTERVAL : "of each model";
    row.why_no_rounds = one ? NULL : row.why_no_interval;
    if (m == EXP_PEER_BASE)
        row.total.won_percent = row.total.pointwise_won_percent = (double)NAN;
    rec_put(csv, &exp_peers_model_table, &row);
}

void exp_peers_describe_sweeps(const struct exp_peers_model *m, char *text, size_t bytes)
{
    char disturbance[320], ruled[160];

    exp_disturbance_describe(&m->disturbance, disturbance, sizeof disturbance);
    exp_ruler_say(&m->ruled[EXP_PEERS_SWEEP], ruled, sizeof ruled);
    exp_say(text, bytes, "%s%zu sweeps: %s; %s; %s",
            *m->why_disturbed[EXP_PEERS_SWEEP] ? "not measured: disturbed: " : "", m->n_rounds[EXP_PEERS_SWEEP],
            exp_end_text(m->end), ruled, disturbance);
}

int exp_peers_write_totals(struct exp_peers_report *r, const char *what, struct exp_why *why)
{
    struct exp_csv *csv;
    char text[640];
    int err = exp_csv_create(&csv, r->dir, &exp_peers_model_table.file, what, why);

    if (err)
        return err;
    for (size_t i = 0; i < r->n_models; i++) {
        exp_peers_describe_sweeps(&r->model[i], text, sizeof text);
        exp_csv_header(csv, r->model[i].name, "%s", text);
    }
    for (size_t i = 0; i <= r->n_models; i++) {
        for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
            for (int m = 0; m < EXP_N_PEERS; m++)
                put_total(r, csv, i, (enum exp_peers_cache)c, (enum exp_peer)m);
        }
    }
    return exp_csv_close(csv, why);
}

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
    double *x = exp_new(r->n_rows + 1, sizeof *x), best;
    size_t n = 0;

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

static const char *core_name(enum exp_peers_core core)
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
            .core = core_name(r->core),
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
    fprintf(out, "\ncore: %s", core_name(r->core));
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
static const struct rec_field target_fields[] = {
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

const struct rec_table exp_peers_targets_table = REC_TABLE("targets.csv", target_fields, TARGET);

int exp_peers_targets_write(const struct exp_peers_report *r, const char *what, struct exp_why *why)
{
    struct exp_peers_target target[EXP_N_PEERS_TARGETS];

    exp_peers_targets(r, target);
    return rec_write(&exp_peers_targets_table, target, EXP_N_PEERS_TARGETS, r->dir, what, why);
}

/* ---- read again ---- */

/* Peers are held against these targets: a target's name, and what stands before, between and behind SConv's numbers. */
static const struct said_target {
    const char *target, *before, *between, *behind;
} said_targets[] = {
    { "speed-up over base, geometric mean over the models", "SConv is ", " as fast as Base, tuned SConv ",
      " (geometric means over the models)" },
    { "layers faster than base", ". They are faster than Base in ", " and ", " of the layers" },
    { "models faster than with oneDNN, plain NCHW", ", faster than oneDNN with the same layout in ", " and ",
      " of the models" },
};

/* Says a target's number with its unit: times where it has none. */
static void say_value(const struct exp_peers_target *t, double value, char *text, size_t bytes)
{
    if (isnan(value))
        exp_say(text, bytes, "not timed");
    else if (*t->unit)
        exp_say(text, bytes, "%.3g %s", value, t->unit);
    else
        exp_say(text, bytes, "%.2f times", value);
}

/* Finds a target of the table by its name; NULL if it has none such. */
static const struct exp_peers_target *find_target(const struct exp_page_csv *t, const char *name)
{
    const struct exp_peers_target *row = t->row;

    for (size_t i = 0; i < t->table.n_rows; i++) {
        if (!strcmp(row[i].name, name))
            return &row[i];
    }
    return NULL;
}

void exp_peers_found(const char *folder, char *text, size_t bytes)
{
    struct exp_page_csv t;

    if (exp_page_csv_read_rows(&t, folder, &exp_peers_targets_table, NULL))
        return;
    for (size_t i = 0; i < sizeof said_targets / sizeof said_targets[0]; i++) {
        const struct said_target *x = &said_targets[i];
        const struct exp_peers_target *row = find_target(&t, x->target);
        char sconv[48], tuned[48];

        if (!row)
            continue;
        say_value(row, row->sconv, sconv, sizeof sconv);
        say_value(row, row->tuned, tuned, sizeof tuned);
        exp_say_more(text, bytes, "%s%s%s%s%s", x->before, sconv, x->between, tuned, x->behind);
    }
    if (*text)
        exp_say_more(text, bytes, ".");
    exp_page_csv_release(&t);
}
