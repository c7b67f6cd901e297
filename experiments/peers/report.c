#include "experiments/peers/peers.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"

static const char *name_of(const struct exp_peers_report *r, size_t m)
{
    return r->methods->algo[m]->name;
}

/* ---- layers.csv and samples.csv ---- */

struct layer_row {
    const char *model, *method, *cache, *layer;
    size_t layer_index, n_reps;
    bool is_pointwise;
    double macs, intensity, gflops, peak_percent, speedup;
    struct exp_times times;
    char plan[EXP_PLAN_TEXT_BYTES];
    const char *why, *why_no_peak;
};

struct sample_row {
    const char *model, *method, *cache;
    size_t layer_index, repetition;
    uint64_t time_ns;
    struct exp_mark mark;
    const char *why_no_mark;
};

#define LAYER struct layer_row
#define SAMPLE struct sample_row

/* clang-format off */
/* Names come last: gnuplot cuts a quoted field at its first comma. */
static const struct rec_field layer_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(LAYER, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(LAYER, layer_index) },
    { { "method", "", "an algorithm of ALGO=, such as base_rows (base, im2col by rows), sconv_ahead (prefetching), "
        "sconv_gen (generated), or a plug-in", "" }, REC_AT(LAYER, method) },
    { { "cache", "", "network: emptied, then the input was written, as the layer before does; warm: the layer again "
        "and again", "" }, REC_AT(LAYER, cache) },
    { EXP_COLUMN_POINTWISE, REC_AT(LAYER, is_pointwise) },
    { EXP_COLUMN_MACS, REC_AT(LAYER, macs) },
    { { "flop_per_byte", "flop/byte", "2 * macs / bytes of input, filter and output", "" }, REC_AT(LAYER, intensity) },
    { EXP_COLUMN_TIME, REC_NAN_OR(LAYER, times.low_mean, why) },
    { EXP_COLUMN_TIME_MEDIAN, REC_NAN_OR(LAYER, times.median, why) },
    { EXP_COLUMN_TIME_MIN, REC_NAN_OR(LAYER, times.fastest, why) },
    { EXP_COLUMN_REPS, REC_AT(LAYER, n_reps) },
    { EXP_COLUMN_GFLOPS, REC_NAN_OR(LAYER, gflops, why) },
    { { "measured_peak_percent", "%",
        "of the FMA peak sampled before and after the model's rounds; over 100 where skipped padding counts", "clock" },
      REC_NAN_OR(LAYER, peak_percent, why_no_peak) },
    { EXP_COLUMN_SPEEDUP(", same cache state"), REC_NAN_OR(LAYER, speedup, why) },
    { { "plan", "", "micro-kernel, schedule and tiles of SConv; OpenBLAS's blocking; a plug-in's name and the hash "
        "of its object", "" }, REC_AT(LAYER, plan) },
    { EXP_COLUMN_LAYER, REC_AT(LAYER, layer) },
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
/* clang-format on */

const struct rec_table exp_peers_layers_table = REC_TABLE("layers.csv", layer_fields, LAYER);
const struct rec_table exp_peers_samples_table = REC_TABLE("samples.csv", sample_fields, SAMPLE);

static const char no_peak[] = "no FMA loop for this CPU";

static LAYER layer_row(const struct exp_peers *p, size_t layer, enum exp_peers_cache c, size_t m)
{
    const struct exp_case *x = exp_peers_case(p, layer, m);
    const struct exp_measured *k = exp_peers_measured(p, c, layer, m);
    const struct exp_times times = exp_peers_times(p, c, layer, m);
    const size_t *bytes = x->plan.layout.bytes;
    const double flop = 2 * conv_macs(&x->layer->problem), ns = times.low_mean;
    LAYER row = {
        .model = p->experiment.model->name,
        .method = p->methods->algo[m]->name,
        .cache = exp_peers_cache_name(c),
        .layer = x->layer->name,
        .layer_index = x->layer->index,
        .n_reps = k->n_samples,
        .is_pointwise = conv_is_pointwise(&x->layer->problem),
        .macs = flop / 2,
        .intensity = flop / (double)(bytes[CONV_INPUT] + bytes[CONV_FILTER] + bytes[CONV_OUTPUT]),
        .gflops = flop / ns,
        .peak_percent = p->peak ? 100 * flop / ns / p->found.peak_gflops : (double)NAN,
        .speedup = exp_peers_times(p, c, layer, 0).low_mean / ns,
        .times = times,
        .why = k->why_no_time ? k->why_no_time : exp_peers_measured(p, c, layer, 0)->why_no_time,
    };

    row.why_no_peak = p->peak ? row.why : no_peak;
    exp_plan_text(&x->plan, row.plan);
    return row;
}

static void put_samples_of(const struct exp_peers *p, size_t layer, enum exp_peers_cache c, size_t m,
                           struct exp_csv *csv)
{
    const struct exp_measured *k = exp_peers_measured(p, c, layer, m);

    for (size_t i = 0; i < k->n_samples; i++) {
        const SAMPLE row = {
            .model = p->experiment.model->name,
            .method = p->methods->algo[m]->name,
            .cache = exp_peers_cache_name(c),
            .layer_index = exp_peers_case(p, layer, m)->layer->index,
            .repetition = i + 1,
            .time_ns = k->sample_ns[i],
            .mark = k->mark[i],
            .why_no_mark = k->mark[i].clock_ns ? NULL : EXP_NO_MARK,
        };

        rec_put(csv, &exp_peers_samples_table, &row);
    }
}

static void put_layers(struct exp_csv *csv, const void *report)
{
    const struct exp_peers_report *r = report;
    const size_t n = r->methods->n, of_layer = EXP_N_PEERS_CACHES * n;

    for (size_t i = 0; i < r->n; i++) {
        for (size_t k = 0; k < r->network[i].n_layers * of_layer; k++) {
            const LAYER row = layer_row(&r->network[i], k / of_layer, (enum exp_peers_cache)(k % of_layer / n), k % n);

            rec_put(csv, &exp_peers_layers_table, &row);
        }
    }
}

static void put_samples(struct exp_csv *csv, const void *report)
{
    const struct exp_peers_report *r = report;
    const size_t n = r->methods->n, of_layer = EXP_N_PEERS_CACHES * n;

    for (size_t i = 0; i < r->n; i++) {
        for (size_t k = 0; k < r->network[i].n_layers * of_layer; k++)
            put_samples_of(&r->network[i], k / of_layer, (enum exp_peers_cache)(k % of_layer / n), k % n, csv);
    }
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
static const struct rec_field total_fields[] = {
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
    EXP_FIELDS_ROUNDS(ROW, n_rounds, end, why_no_rounds, "", ""),
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

const struct rec_table exp_peers_model_table = REC_TABLE("model.csv", total_fields, ROW);

static const char *why_no_total(const struct exp_peers_report *r, size_t network, enum exp_peers_cache c, size_t m)
{
    const size_t first = network < r->n ? network : 0, end = network < r->n ? network + 1 : r->n;

    for (size_t i = first; i < end; i++) {
        if (*exp_peers_why_not(&r->network[i], c, m))
            return exp_peers_why_not(&r->network[i], c, m);
    }
    return "no such layers";
}

static ROW total_row(const struct exp_peers_report *r, size_t network, enum exp_peers_cache c, size_t m)
{
    const struct exp_peers *one = network < r->n ? &r->network[network] : NULL;
    const bool has_peak = one && one->found.peak_gflops > 0;
    const char *why = why_no_total(r, network, c, m);
    ROW row = {
        .model = one ? one->experiment.model->name : "all",
        .method = name_of(r, m),
        .cache = exp_peers_cache_name(c),
        .total = exp_peers_total(r, network, c, m),
        .speedup = one ? exp_peers_speedup(one, c, m) : exp_ratio_none(),
        .n_rounds = one ? one->found.info[c].n_rounds : 0,
        .end = exp_end_text(one ? one->found.info[c].end : EXP_END_FIXED),
        .peak_gflops = has_peak ? one->found.peak_gflops : (double)NAN,
        .read_gbytes = has_peak ? one->found.read_gbytes : (double)NAN,
        .why = why,
        .why_not_won = m ? why : "this is base",
        .why_no_peak = one ? no_peak : "sampled per model",
    };

    row.why_no_interval = !row.total.n_layers ? why : one ? EXP_RATIO_NO_INTERVAL : "of each model";
    row.why_no_rounds = one ? NULL : row.why_no_interval;
    if (!m)
        row.total.won_percent = row.total.pointwise_won_percent = (double)NAN;
    return row;
}

void exp_peers_describe_rounds(const struct exp_peers *p, char *text, size_t bytes)
{
    const struct exp_measure_info *info = &p->found.info[EXP_PEERS_NETWORK];
    char disturbance[320], ruled[160];

    exp_disturbance_describe(&info->disturbance, disturbance, sizeof disturbance);
    exp_ruler_say(&info->ruler, ruled, sizeof ruled);
    exp_say(text, bytes, "%s%zu rounds: %s; %s; %s", *info->why_disturbed ? "not measured: disturbed: " : "",
            info->n_rounds, exp_end_text(info->end), ruled, disturbance);
}

static void put_totals(struct exp_csv *csv, const void *report)
{
    const struct exp_peers_report *r = report;
    const size_t n_rows = EXP_N_PEERS_CACHES * r->methods->n;
    char text[640];

    for (size_t i = 0; i < r->n; i++) {
        exp_peers_describe_rounds(&r->network[i], text, sizeof text);
        exp_csv_header(csv, r->network[i].experiment.model->name, "%s", text);
    }
    for (size_t i = 0; i < (r->n + 1) * n_rows; i++) {
        const ROW row = total_row(r, i / n_rows, (enum exp_peers_cache)(i % n_rows / r->methods->n), i % r->methods->n);

        rec_put(csv, &exp_peers_model_table, &row);
    }
}

/* ---- phases.csv: where Base's and SConv's time goes ---- */

/* Percents of a time, and the time beside the time of Base's call. */
struct phases_row {
    size_t number;
    double im2col, packing, ukr, other, to_call;
    const char *model, *method, *why;
};

#define PHASES struct phases_row

/* clang-format off */
static const struct rec_field phase_fields[] = {
    { { "number", "", "of the model, from 1", "" }, REC_AT(PHASES, number) },
    { { "method", "", "base, with OpenBLAS's own routines, or an SConv; each run step by step", "" },
      REC_AT(PHASES, method) },
    { { "im2col_percent", "%", "of that run's time", "clock" }, REC_NAN_OR(PHASES, im2col, why) },
    { { "packing_percent", "%", "packing windows; of base: OpenBLAS's copy routines", "clock" },
      REC_NAN_OR(PHASES, packing, why) },
    { { "ukr_percent", "%", "micro-kernels", "clock" }, REC_NAN_OR(PHASES, ukr, why) },
    { { "other_percent", "%", "the rest: loops; of base: clearing the output, too", "clock" },
      REC_NAN_OR(PHASES, other, why) },
    { { "steps_to_call", "", "that time / base's time with cblas_sgemm: of base near 1, or the shares are "
        "not the call's", "clock" }, REC_NAN_OR(PHASES, to_call, why) },
    { EXP_COLUMN_MODEL, REC_AT(PHASES, model) },
};
/* clang-format on */

const struct rec_table exp_peers_phases_table = REC_TABLE("phases.csv", phase_fields, PHASES);

/* The time of Base's call is a median, because phases have no rounds to choose from. */
static PHASES phases_row(const struct exp_peers_report *r, size_t network, size_t m)
{
    const struct exp_peers *p = &r->network[network];
    const struct exp_phases x = exp_peers_phases(p, m);
    const double all = (double)x.total_ns, percent = 100 / all;
    const char *why = exp_peers_why_not(p, EXP_PEERS_NETWORK, m), *no_steps = p->found.info->why_no_base_steps.text;

    return (PHASES){
        .number = network + 1,
        .model = p->experiment.model->name,
        .method = name_of(r, m),
        .im2col = percent * (double)x.step_ns[CONV_STEP_IM2COL],
        .packing = percent * (double)exp_phases_packing_ns(&x),
        .ukr = percent * (double)exp_phases_kernel_ns(&x),
        .other = percent * (double)exp_phases_other_ns(&x),
        .to_call = (all > 0 ? all : (double)NAN) / exp_peers_total(r, network, EXP_PEERS_NETWORK, 0).times.median,
        .why = *why              ? why
               : !m && *no_steps ? no_steps
                                 : "no time",
    };
}

static void put_phases(struct exp_csv *csv, const void *report)
{
    const struct exp_peers_report *r = report;

    for (size_t i = 0; i < r->n * r->methods->n; i++) {
        const PHASES row = phases_row(r, i / r->methods->n, i % r->methods->n);

        if (exp_peers_has_phases(r->methods, i % r->methods->n))
            rec_put(csv, &exp_peers_phases_table, &row);
    }
}

static void put_targets(struct exp_csv *csv, const void *report)
{
    struct exp_peers_target target[EXP_N_PEERS_TARGETS];

    exp_peers_targets(report, target);
    for (int i = 0; i < EXP_N_PEERS_TARGETS; i++)
        rec_put(csv, &exp_peers_targets_table, &target[i]);
}

int exp_peers_write(const struct exp_peers_report *r, const struct exp_outdir *dir, const char *what,
                    struct exp_why *why)
{
    static const struct rec_file files[] = { { &exp_peers_layers_table, put_layers, NULL },
                                             { &exp_peers_samples_table, put_samples, NULL },
                                             { &exp_peers_model_table, put_totals, NULL },
                                             { &exp_peers_phases_table, put_phases, NULL },
                                             { &exp_peers_targets_table, put_targets, NULL } };

    return rec_write_files(files, sizeof files / sizeof files[0], r, dir, what, why);
}

/* ---- the closing table ---- */

/* Prints a table of the methods: speed-ups over Base, shares, and where the time goes. */
static void print_network(const struct exp_peers_report *r, size_t network, FILE *out)
{
    fprintf(out, "\n%-18.18s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s\n",
            network < r->n ? r->network[network].experiment.model->name : "all", "speed-up", "of layers", "warm",
            "won %", "1x1 won %", "of peak %", "im2col %", "packing %", "kernel %", "other %", "steps/call");
    for (size_t m = 0; m < r->methods->n; m++) {
        const struct exp_peers_total t = exp_peers_total(r, network, EXP_PEERS_NETWORK, m),
                                     warm = exp_peers_total(r, network, EXP_PEERS_WARM, m);
        const bool has_phases = network < r->n && exp_peers_has_phases(r->methods, m);
        const PHASES x = has_phases ? phases_row(r, network, m) : (PHASES){ 0 };
        const double number[] = { t.network_ratio,
                                  t.geomean_ratio,
                                  warm.network_ratio,
                                  m ? t.won_percent : (double)NAN,
                                  m ? t.pointwise_won_percent : (double)NAN,
                                  t.peak_percent,
                                  x.im2col,
                                  x.packing,
                                  x.ukr,
                                  x.other,
                                  x.to_call };

        fprintf(out, "%-18.18s", name_of(r, m));
        for (size_t k = 0; k < (has_phases ? sizeof number / sizeof *number : 6); k++)
            exp_peers_print_number(number[k], out);
        fprintf(out, "\n");
    }
}

void exp_peers_print(const struct exp_peers_report *r, FILE *out)
{
    char text[640];

    fprintf(out, "\nspeed-up over base: of the sum over the network (all: geometric mean), of the layers (geometric "
                 "mean), of the sum in warm caches;\nlayers and pointwise layers faster than base; share of the FMA "
                 "peak, of nominal flop; shares of the time, run step by step\n");
    for (size_t i = 0; i < r->n + (r->n > 1); i++)
        print_network(r, i, out);
    fprintf(out, "\n");
    for (size_t i = 0; i < r->n; i++) {
        const struct exp_peers *p = &r->network[i];
        const struct exp_measure_info *info = &p->found.info[EXP_PEERS_NETWORK];

        exp_peers_describe_rounds(p, text, sizeof text);
        fprintf(out, "%s: %s\n", p->experiment.model->name, text);
        if (*info->why_no_base_steps.text)
            fprintf(out, "base's shares not available: %s\n", info->why_no_base_steps.text);
        for (size_t m = 0; m < r->methods->n && !*info->why_disturbed; m++) {
            const char *why = exp_peers_why_not(p, EXP_PEERS_NETWORK, m);

            if (*why)
                fprintf(out, "%s, %s: not available: %s\n", name_of(r, m), p->experiment.model->name, why);
        }
    }
}

/* ---- variables of figures ---- */

void exp_peers_set_variables(const struct exp_peers_report *r, struct exp_variables *v)
{
    double peak = 0, read = 0;
    char text[32];

    exp_variables_set(v, "sconv_peers", "");
    exp_variables_set(v, "other_peers", "");
    for (size_t m = 0; m < r->methods->n; m++) {
        const struct exp_algo *a = r->methods->algo[m];

        exp_variables_add(v, "peer_names", "", a->name);
        exp_variables_add(v, "peer_titles", "\"", a->title);
        exp_variables_add(v, "peer_colours", "", a->colour);
        if (m)
            exp_variables_add(v, exp_peers_has_phases(r->methods, m) ? "sconv_peers" : "other_peers", "", a->name);
    }
    for (size_t i = 0; i < r->n; i++) {
        peak += r->network[i].found.peak_gflops / (double)r->n;
        read += r->network[i].found.read_gbytes / (double)r->n;
    }
    exp_say(text, sizeof text, "%g", peak);
    exp_variables_set(v, "peak_gflops", text);
    exp_say(text, sizeof text, "%g", read);
    exp_variables_set(v, "read_gbytes", text);
}
