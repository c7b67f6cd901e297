#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"
#include "experiments/peers/peers.h"

#define ROW struct exp_peers_row
#define TOTAL struct exp_peers_total

static const char no_peak[] = "no FMA loop for this CPU";

/* ---- rows ---- */

static const char *name_of(enum exp_peers_cache c)
{
    return exp_cache_state_name(c == EXP_PEERS_WARM ? EXP_WARM : EXP_NETWORK);
}

static ROW row_of(const struct exp_report *r, const struct exp_case *c, const char *method)
{
    const size_t *bytes = c->plan.layout.bytes;
    const double flop = 2 * conv_macs(&c->layer->problem);
    ROW row = { .model = r->e->model->name,
                .method = method,
                .cache = exp_cache_state_name(r->cache),
                .layer = c->layer->name,
                .layer_index = c->layer->index,
                .is_pointwise = conv_is_pointwise(&c->layer->problem),
                .flop_per_byte = flop / (double)(bytes[CONV_INPUT] + bytes[CONV_FILTER] + bytes[CONV_OUTPUT]),
                .times = c->measured };

    measure_case(row.of, r, c);
    exp_plan_text(&c->plan, row.plan);
    return row;
}

void exp_peers_add_rows(struct exp_peers *p, struct exp_experiment *e, enum exp_peers_cache c)
{
    const struct exp_report r = { .e = e,
                                  .info = &p->info[p->n_networks][c],
                                  .cache = c == EXP_PEERS_WARM ? EXP_WARM : EXP_NETWORK };

    for (size_t i = 0; i < e->n_cases * p->n_methods; i++) {
        const size_t of_layer = e->n_algos * p->n_methods;
        const struct exp_case *x = &e->cases[i / of_layer * e->n_algos + i % e->n_algos];
        const char *method = p->method[i % of_layer / e->n_algos]->name;

        if (exp_case_is_of(x, method))
            *(ROW *)exp_append(&p->row, &p->n_rows, sizeof *p->row) = row_of(&r, x, method);
    }
    for (size_t i = 0; i < e->n_cases; i++)
        e->cases[i].measured = (struct exp_measured){ .why = "not asked for (HOT=0)" };
}

/* ---- totals ---- */

/* Sets a value of the total of all networks to the geometric mean of the networks' values; `at` is the value's offset. */
static void set_mean(const struct exp_peers *p, TOTAL *all, size_t at)
{
    double *x = exp_new(p->n_networks + 1, sizeof *x);
    struct value one = value_none("no such layers");
    size_t n = 0;

    for (size_t i = 0; i < p->n_totals && (!n || !one.why); i++) {
        if (strcmp(p->total[i].method, all->method) != 0 || strcmp(p->total[i].cache, all->cache) != 0)
            continue;
        memcpy(&one, (const char *)&p->total[i] + at, sizeof one);
        x[n++] = one.number;
    }
    one = one.why ? one : value_if_finite(exp_stats_geomean(x, n), "not all are above 0");
    memcpy((char *)all + at, &one, sizeof one);
    free(x);
}

/* Adds the row of a layer with times of the method and of Base to the sums of a total. */
static void add_row(TOTAL *t, const ROW *row)
{
    const double speedup = row->of[M_measured_speedup_vs_base].number;

    measure_add(t->of, row->of);
    t->n_layers++;
    t->n_pointwise += row->is_pointwise;
    t->layers_speedup.number += log(speedup);
    t->won_percent.number += speedup > 1;
    t->pointwise_won_percent.number += row->is_pointwise && speedup > 1;
}

/* Makes means and percents of the sums; the pairs are the rounds of the layers. */
static void finish(TOTAL *t, bool is_base, const struct exp_pair *pair)
{
    const char *why = t->why_not_all ? t->why_not_all : "no such layers";
    const char *no_interval = t->n_layers ? EXP_RATIO_NO_INTERVAL : why, *not_won = is_base ? "this is base" : why;
    const struct exp_ratio ratio = exp_ratio_of(pair, t->n_layers);
    const double n = (double)t->n_layers, n_won = is_base ? 0 : n,
                 n_pointwise_won = is_base ? 0 : (double)t->n_pointwise;

    for (size_t i = 0; i < N_MEASURES && !t->n_layers; i++)
        t->of[i] = value_none(why);
    t->of[M_measured_speedup_vs_base] = value_if_finite(ratio.value, why);
    t->of[M_measured_speedup_low] = value_if_finite(ratio.low, no_interval);
    t->of[M_measured_speedup_high] = value_if_finite(ratio.high, no_interval);
    t->of[M_measured_speedup_by_median] = value_if_finite(ratio.by_median, why);
    t->layers_speedup = value_if_finite(exp(t->layers_speedup.number / n), why);
    t->won_percent = value_or(100 * t->won_percent.number / n_won, n_won > 0 ? NULL : not_won);
    t->pointwise_won_percent =
        value_or(100 * t->pointwise_won_percent.number / n_pointwise_won, n_pointwise_won > 0 ? NULL : not_won);
}

/* Sums up the rows from `first` on with method m in one state of the caches. A layer's first row is of Base. */
static TOTAL sum_of(const struct exp_peers *p, size_t first, enum exp_peers_cache c, size_t m)
{
    struct exp_pair *pair = exp_new(p->n_rows + 1, sizeof *pair);
    TOTAL t = { .method = p->method[m]->name, .cache = name_of(c) };

    for (size_t i = first; i < p->n_rows; i += p->n_methods) {
        const ROW *base = &p->row[i], *row = base + m;
        const char *why = row->of[M_measured_speedup_vs_base].why;

        if (strcmp(row->cache, t.cache) != 0)
            continue;
        t.why_not_all = t.why_not_all ? t.why_not_all : why;
        if (why)
            continue;
        pair[t.n_layers] = (struct exp_pair){ base->times.sample_ns, row->times.sample_ns, row->times.n_samples,
                                              fmax(base->times.slowed, row->times.slowed) };
        add_row(&t, row);
    }
    finish(&t, !m, pair);
    free(pair);
    return t;
}

/* Completes the total of a network. `base` is the total of Base. */
static void add_network(const struct exp_peers *p, TOTAL *t, const TOTAL *base, const struct exp_measure_info *info)
{
    static const enum measure part[EXP_PEERS_N_PARTS] = { M_measured_im2col_ns, M_measured_packing_ns,
                                                          M_measured_kernel_ns, M_measured_other_ns };
    const struct value flop_per_ns = value_ratio(t->of[M_macs], t->of[M_measured_time_ns], 2);

    t->model = p->models->model[p->n_networks].name;
    t->number = p->n_networks + 1;
    t->n_rounds = info->n_rounds;
    t->end = exp_end_text(info->end);
    t->peak_percent = value_ratio(flop_per_ns, t->peak_gflops, 100);
    for (size_t i = 0; i < EXP_PEERS_N_PARTS; i++)
        t->part_percent[i] = value_ratio(t->of[part[i]], t->of[M_measured_steps_ns], 100);
    t->steps_to_call = value_ratio(t->of[M_measured_steps_ns], base->of[M_measured_time_median_ns], 1);
}

/* Completes the total of all networks with means over the networks. */
static void add_means(const struct exp_peers *p, TOTAL *t)
{
    static const size_t means[] = { offsetof(TOTAL, of[M_measured_speedup_vs_base]), offsetof(TOTAL, layers_speedup),
                                    offsetof(TOTAL, peak_percent), offsetof(TOTAL, peak_gflops),
                                    offsetof(TOTAL, read_gbytes) };
    const struct value alone = value_none("of each model");

    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++)
        set_mean(p, t, means[i]);
    t->model = "all";
    t->of[M_measured_speedup_low] = t->of[M_measured_speedup_high] = t->of[M_measured_speedup_by_median] = alone;
    t->why_no_rounds = alone.why;
}

void exp_peers_sum_up(struct exp_peers *p, size_t first, double peak_gflops, double read_gbytes)
{
    const struct value peak = value_or(peak_gflops, peak_gflops > 0 ? NULL : no_peak);
    const size_t m_all = p->n_methods, n_before = p->n_totals;

    for (size_t i = first; i < p->n_rows && p->n_networks < p->models->n; i++)
        p->row[i].peak_percent = value_ratio(p->row[i].of[M_measured_gflops], peak, 100);
    for (size_t i = 0; i < EXP_N_PEERS_CACHES * m_all; i++) {
        const enum exp_peers_cache c = (enum exp_peers_cache)(i / m_all);
        const struct exp_algo *a = p->method[i % m_all];
        TOTAL t = sum_of(p, first, c, i % m_all);

        t.peak_gflops = peak;
        t.read_gbytes = value_or(read_gbytes, peak.why);
        t.has_phases = c == EXP_PEERS_NETWORK && !a->plugin && !a->why_no_phases && p->n_networks < p->models->n;
        if (p->n_networks == p->models->n)
            add_means(p, &t);
        else
            add_network(p, &t, i % m_all ? &p->total[n_before + c * m_all] : &t, &p->info[p->n_networks][c]);
        *(TOTAL *)exp_append(&p->total, &p->n_totals, sizeof *p->total) = t;
    }
}

const TOTAL *exp_peers_total(const struct exp_peers *p, size_t network, enum exp_peers_cache c, size_t method)
{
    const size_t i = (network * EXP_N_PEERS_CACHES + c) * p->n_methods + method;

    assert(method < p->n_methods && i < p->n_totals);
    return &p->total[i];
}

/* ---- tables ---- */

struct sample_row {
    const char *model, *method, *cache;
    size_t layer_index, repetition;
    uint64_t time_ns;
    struct exp_mark mark;
    const char *why_no_mark;
};

#define SAMPLE struct sample_row

/* clang-format off */
/* Names come last: gnuplot cuts a quoted field at its first comma. */
static const struct rec_field layer_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(ROW, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(ROW, layer_index) },
    { { "method", "", "an algorithm of ALGO=, such as base_rows (base, im2col by rows), sconv_ahead (prefetching), "
        "sconv_gen (generated), or a plug-in", "" }, REC_AT(ROW, method) },
    { { "cache", "", "network: emptied, then the input was written, as the layer before does; warm: the layer again "
        "and again", "" }, REC_AT(ROW, cache) },
    { EXP_COLUMN_POINTWISE, REC_AT(ROW, is_pointwise) },
    { EXP_COLUMN_MACS, REC_VALUE(ROW, of[M_macs]) },
    { { "flop_per_byte", "flop/byte", "2 * macs / bytes of input, filter and output", "" },
      REC_AT(ROW, flop_per_byte) },
    { EXP_COLUMN_TIME, REC_VALUE(ROW, of[M_measured_time_ns]) },
    { EXP_COLUMN_TIME_MEDIAN, REC_VALUE(ROW, of[M_measured_time_median_ns]) },
    { EXP_COLUMN_TIME_MIN, REC_VALUE(ROW, of[M_measured_time_min_ns]) },
    { EXP_COLUMN_REPS, REC_VALUE(ROW, of[M_measured_reps]) },
    { EXP_COLUMN_GFLOPS, REC_VALUE(ROW, of[M_measured_gflops]) },
    { { "measured_peak_percent", "%",
        "of the FMA peak sampled before and after the model's rounds; over 100 where skipped padding counts", "clock" },
      REC_VALUE(ROW, peak_percent) },
    { EXP_COLUMN_SPEEDUP(", same cache state"), REC_VALUE(ROW, of[M_measured_speedup_vs_base]) },
    { { "plan", "", "micro-kernel, schedule and tiles of SConv; OpenBLAS's blocking; a plug-in's name and the hash "
        "of its object", "" }, REC_AT(ROW, plan) },
    { EXP_COLUMN_LAYER, REC_AT(ROW, layer) },
};

static const struct rec_field sample_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(SAMPLE, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(SAMPLE, layer_index) },
    { { "method", "", "as in layers.csv", "" }, REC_AT(SAMPLE, method) },
    { { "cache", "", "as in layers.csv", "" }, REC_AT(SAMPLE, cache) },
    { EXP_COLUMN_REPETITION, REC_AT(SAMPLE, repetition) },
    { EXP_COLUMN_SAMPLE, REC_AT(SAMPLE, time_ns) },
    EXP_FIELDS_MARK(SAMPLE, mark, why_no_mark),
};

static const struct rec_field total_fields[] = {
    { { "model", "", "name of the layer table; all: geometric means over the models, shares of all layers", "" },
      REC_AT(TOTAL, model) },
    { { "method", "", "as in layers.csv", "" }, REC_AT(TOTAL, method) },
    { { "cache", "", "as in layers.csv", "" }, REC_AT(TOTAL, cache) },
    { { "layers", "", "convolutions that were timed", "" }, REC_AT(TOTAL, n_layers) },
    { { "pointwise_layers", "", "of those, pointwise ones", "" }, REC_AT(TOTAL, n_pointwise) },
    { EXP_COLUMN_SUM, REC_VALUE(TOTAL, of[M_measured_time_ns]) },
    { EXP_COLUMN_SUM_MIN, REC_VALUE(TOTAL, of[M_measured_time_min_ns]) },
    { EXP_COLUMN_SUM_MEDIAN, REC_VALUE(TOTAL, of[M_measured_time_median_ns]) },
    { { "measured_network_speedup", "", "base's measured_time_ns / this one", "clock" },
      REC_VALUE(TOTAL, of[M_measured_speedup_vs_base]) },
    { EXP_COLUMN_SPEEDUP_LOW, REC_VALUE(TOTAL, of[M_measured_speedup_low]) },
    { EXP_COLUMN_SPEEDUP_HIGH, REC_VALUE(TOTAL, of[M_measured_speedup_high]) },
    { EXP_COLUMN_SPEEDUP_BY_MEDIAN, REC_VALUE(TOTAL, of[M_measured_speedup_by_median]) },
    EXP_FIELDS_ROUNDS(TOTAL, n_rounds, end, why_no_rounds, ""),
    { { "measured_layers_speedup", "",
        "geometric mean over the layers of base's measured_time_ns / this one", "clock" },
      REC_VALUE(TOTAL, layers_speedup) },
    { { "measured_won_percent", "%", "layers faster than base", "clock" }, REC_VALUE(TOTAL, won_percent) },
    { { "measured_pointwise_won_percent", "%", "pointwise layers faster than base, which is BLAS's GEMM alone there",
        "clock" },
      REC_VALUE(TOTAL, pointwise_won_percent) },
    { { "measured_peak_percent", "%", "of the FMA peak sampled in the same run", "clock" },
      REC_VALUE(TOTAL, peak_percent) },
    { { "peak_gflops", "GFLOP/s", "that peak: the highest sample", "clock" }, REC_VALUE(TOTAL, peak_gflops) },
    { { "read_gbytes", "GB/s", "reading 128 MiB with vector loads, same run", "clock" },
      REC_VALUE(TOTAL, read_gbytes) },
};

static const struct rec_field phase_fields[] = {
    { { "number", "", "of the model, from 1", "" }, REC_AT(TOTAL, number) },
    { { "method", "", "base, with OpenBLAS's own routines, or an SConv; each run step by step", "" },
      REC_AT(TOTAL, method) },
    { { "im2col_percent", "%", "of that run's time", "clock" }, REC_VALUE(TOTAL, part_percent[0]) },
    { { "packing_percent", "%", "packing windows; of base: OpenBLAS's copy routines", "clock" },
      REC_VALUE(TOTAL, part_percent[1]) },
    { { "ukr_percent", "%", "micro-kernels", "clock" }, REC_VALUE(TOTAL, part_percent[2]) },
    { { "other_percent", "%", "the rest: loops; of base: clearing the output, too", "clock" },
      REC_VALUE(TOTAL, part_percent[3]) },
    { { "steps_to_call", "", "that time / base's time with cblas_sgemm: of base near 1, or the shares are "
        "not the call's", "clock" }, REC_VALUE(TOTAL, steps_to_call) },
    { EXP_COLUMN_MODEL, REC_AT(TOTAL, model) },
};
/* clang-format on */

const struct rec_table exp_peers_layers_table = REC_TABLE("layers.csv", layer_fields, ROW);
const struct rec_table exp_peers_samples_table = REC_TABLE("samples.csv", sample_fields, SAMPLE);
const struct rec_table exp_peers_model_table = REC_TABLE("model.csv", total_fields, TOTAL);
const struct rec_table exp_peers_phases_table = REC_TABLE("phases.csv", phase_fields, TOTAL);

static void put_samples(struct exp_csv *csv, const void *peers)
{
    const struct exp_peers *p = peers;

    for (const ROW *row = p->row; row < p->row + p->n_rows; row++) {
        for (size_t i = 0; i < row->times.n_samples; i++) {
            const SAMPLE sample = { .model = row->model,
                                    .method = row->method,
                                    .cache = row->cache,
                                    .layer_index = row->layer_index,
                                    .repetition = i + 1,
                                    .time_ns = row->times.sample_ns[i],
                                    .mark = row->times.mark[i],
                                    .why_no_mark = row->times.mark[i].clock_ns ? NULL : EXP_NO_MARK };

            rec_put(csv, &exp_peers_samples_table, &sample);
        }
    }
}

/* Describes the rounds of a network: "63 rounds: ...", "not measured: disturbed: 63 rounds: ...". */
static void describe_rounds(const struct exp_measure_info *info, char *text, size_t bytes)
{
    char rounds[640];

    exp_measure_say_rounds(info, rounds, sizeof rounds);
    exp_say(text, bytes, "%s%s%s%s", *info->why_disturbed ? "not measured: disturbed: " : "", info->busy,
            *info->busy ? ": " : "", rounds);
}

static void put_totals(struct exp_csv *csv, const void *peers)
{
    const struct exp_peers *p = peers;
    char text[640];

    for (size_t i = 0; i < p->n_networks; i++) {
        describe_rounds(&p->info[i][EXP_PEERS_NETWORK], text, sizeof text);
        exp_csv_header(csv, p->models->model[i].name, "%s", text);
    }
    for (size_t i = 0; i < p->n_totals; i++)
        rec_put(csv, &exp_peers_model_table, &p->total[i]);
}

static void put_phases(struct exp_csv *csv, const void *peers)
{
    const struct exp_peers *p = peers;

    for (size_t i = 0; i < p->n_totals; i++) {
        if (p->total[i].has_phases)
            rec_put(csv, &exp_peers_phases_table, &p->total[i]);
    }
}

int exp_peers_write(const struct exp_peers *p, const struct exp_outdir *dir, const char *what, struct exp_why *why)
{
    static const struct rec_file files[] = { { &exp_peers_samples_table, put_samples, NULL },
                                             { &exp_peers_model_table, put_totals, NULL },
                                             { &exp_peers_phases_table, put_phases, NULL } };

    int err = rec_write_files(files, sizeof files / sizeof files[0], p, dir, what, why);

    return err ? err : rec_write(&exp_peers_layers_table, p->row, p->n_rows, dir, what, why);
}

/* ---- the closing table ---- */

static void print_number(double x, FILE *out)
{
    if (isnan(x))
        fprintf(out, " %9s", "-");
    else
        fprintf(out, " %9.2f", x);
}

/* Prints a table of the methods: speed-ups over Base, shares, and of methods with phases the parts of the time. */
static void print_network(const struct exp_peers *p, size_t network, FILE *out)
{
    fprintf(out, "\n%-18.18s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s\n",
            exp_peers_total(p, network, EXP_PEERS_NETWORK, 0)->model, "speed-up", "of layers", "warm", "won %",
            "1x1 won %", "of peak %", "im2col %", "packing %", "kernel %", "other %", "steps/call");
    for (size_t m = 0; m < p->n_methods; m++) {
        const TOTAL *t = exp_peers_total(p, network, EXP_PEERS_NETWORK, m),
                    *warm = exp_peers_total(p, network, EXP_PEERS_WARM, m);
        const struct value number[] = {
            t->of[M_measured_speedup_vs_base], t->layers_speedup, warm->of[M_measured_speedup_vs_base], t->won_percent,
            t->pointwise_won_percent,          t->peak_percent
        };

        fprintf(out, "%-18.18s", t->method);
        for (size_t k = 0; k < sizeof number / sizeof *number; k++)
            print_number(number[k].number, out);
        for (size_t k = 0; k < EXP_PEERS_N_PARTS && t->has_phases; k++)
            print_number(t->part_percent[k].number, out);
        if (t->has_phases)
            print_number(t->steps_to_call.number, out);
        fprintf(out, "\n");
    }
}

/* Prints the timing of a network, and the reasons of methods without times in some layers. */
static void print_rounds(const struct exp_peers *p, size_t network, FILE *out)
{
    const struct exp_measure_info *info = &p->info[network][EXP_PEERS_NETWORK];
    const char *model = p->models->model[network].name;
    char text[640];

    describe_rounds(info, text, sizeof text);
    fprintf(out, "%s: %s\n", model, text);
    if (*info->why_no_base_steps.text)
        fprintf(out, "base's shares not available: %s\n", info->why_no_base_steps.text);
    for (size_t m = 0; m < p->n_methods && !*info->why_disturbed; m++) {
        const TOTAL *t = exp_peers_total(p, network, EXP_PEERS_NETWORK, m);

        if (t->why_not_all)
            fprintf(out, "%s, %s: not available: %s\n", t->method, model, t->why_not_all);
    }
}

void exp_peers_print(const struct exp_peers *p, FILE *out)
{
    fprintf(out, "\nspeed-up over base: of the sum over the network (all: geometric mean), of the layers (geometric "
                 "mean), of the sum in warm caches;\nlayers and pointwise layers faster than base; share of the FMA "
                 "peak, of nominal flop; shares of the time, run step by step\n");
    for (size_t i = 0; i < p->n_networks + (p->n_networks > 1); i++)
        print_network(p, i, out);
    fprintf(out, "\n");
    for (size_t i = 0; i < p->n_networks; i++)
        print_rounds(p, i, out);
}

int exp_peers_answer(const struct exp_peers *p, FILE *out)
{
    const char *before = "Speed-up over Base, and layers that are faster: ", *why = "ALGO has no other method";

    for (size_t m = 1; m < p->n_methods; m++) {
        const TOTAL *t = exp_peers_total(p, p->n_networks, EXP_PEERS_NETWORK, m);
        const struct value speedup = t->of[M_measured_speedup_vs_base];

        why = speedup.why;
        if (why)
            continue;
        fprintf(out, "%s%s %.2f (%.3g %%)", before, p->method[m]->title, speedup.number, t->won_percent.number);
        before = "; ";
    }
    if (*before != ';') {
        fprintf(out, "Nothing was measured beside Base: %s.\n", why);
        return 0;
    }
    for (size_t m = 1; m < p->n_methods; m++) {
        const struct value speedup =
            exp_peers_total(p, p->n_networks, EXP_PEERS_NETWORK, m)->of[M_measured_speedup_vs_base];

        if (speedup.why)
            fprintf(out, "; %s was not timed: %s", p->method[m]->title, speedup.why);
    }
    fprintf(out, ".%s\n", p->n_networks > 1 ? " Speed-ups are geometric means over the models." : "");
    return 0;
}
