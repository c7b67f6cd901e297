#include "experiments/peers/exp_peers_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/report/exp_cells.h"

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

/* Names come last: gnuplot cuts a quoted field at its first comma. */
static const struct exp_csv_column layer_columns[] = {
    EXP_COLUMN_MODEL,
    EXP_COLUMN_LAYER_INDEX,
    { "method", "",
      "base, base_rows (im2col by rows), sconv (as in the paper), sconv_openblas (with its micro-kernel), sconv_tuned, "
      "onednn_nchw, onednn_reorder "
      "(conversions timed), onednn_blocked",
      "" },
    { "cache", "", "sweep: the network layer by layer, weights cold; hot: the layer again and again", "" },
    EXP_COLUMN_POINTWISE,
    EXP_COLUMN_MACS,
    { "flop_per_byte", "flop/byte", "2 * macs / bytes of input, filter and output", "" },
    EXP_COLUMN_TIME,
    EXP_COLUMN_TIME_MEDIAN,
    EXP_COLUMN_TIME_MIN,
    EXP_COLUMN_REPS,
    EXP_COLUMN_GFLOPS,
    { "measured_peak_percent", "%",
      "of the FMA peak sampled between the model's sweeps; over 100 where skipped padding counts", "clock" },
    EXP_COLUMN_SPEEDUP(", same cache state"),
    { "plan", "",
      "SConv: schedule, micro-kernel, " CSA_NC_TEXT ", " CSA_K2_TEXT ", " CSA_K3_TEXT
      ", in place or packed windows; oneDNN: its implementation",
      "" },
    EXP_COLUMN_LAYER,
};

static const struct exp_csv_column sample_columns[] = {
    EXP_COLUMN_MODEL,
    EXP_COLUMN_LAYER_INDEX,
    { "method", "", "as in layers.csv", "" },
    { "cache", "", "as in layers.csv", "" },
    EXP_COLUMN_REPETITION,
    EXP_COLUMN_SAMPLE,
};

static const struct exp_csv_column total_columns[] = {
    { "model", "", "name of the layer table; all: geometric means over the models, shares of all layers", "" },
    { "method", "", "as in layers.csv", "" },
    { "cache", "", "as in layers.csv", "" },
    { "layers", "", "convolutions that were timed", "" },
    { "pointwise_layers", "", "of those, pointwise ones", "" },
    EXP_COLUMNS_SUMS,
    { "measured_network_speedup", "", "base's measured_time_ns / this one", "clock" },
    EXP_COLUMNS_INTERVAL,
    EXP_COLUMNS_ROUNDS("", " sweeps"),
    { "measured_layers_speedup", "", "geometric mean over the layers of base's measured_time_ns / this one", "clock" },
    { "measured_won_percent", "%", "layers faster than base", "clock" },
    { "measured_pointwise_won_percent", "%", "pointwise layers faster than base, which is BLAS's GEMM alone there",
      "clock" },
    { "measured_peak_percent", "%", "of the FMA peak sampled in the same run", "clock" },
    { "peak_gflops", "GFLOP/s", "that peak: the highest sample", "clock" },
    { "read_gbytes", "GB/s", "reading 128 MiB with vector loads, same run", "clock" },
};

static const struct exp_csv_column phase_columns[] = {
    { "number", "", "of the model, from 1", "" },
    { "base_im2col_percent", "%", "of base's time, run step by step with OpenBLAS's own routines", "clock" },
    { "base_packing_percent", "%", "OpenBLAS's copy routines", "clock" },
    { "base_ukr_percent", "%", "OpenBLAS's micro-kernel", "clock" },
    { "base_other_percent", "%", "the rest: clearing the output, loops", "clock" },
    { "base_steps_to_call", "",
      "that time / base's time with cblas_sgemm in the sweeps: near 1, or the shares are not the call's", "clock" },
    { "sconv_packing_percent", "%", "of SConv's time: packing windows", "clock" },
    { "sconv_ukr_percent", "%", "micro-kernels", "clock" },
    { "sconv_other_percent", "%", "the rest", "clock" },
    { "sconv_to_base", "", "SConv's time / base's time in this measurement", "clock" },
    { "sconv_openblas_packing_percent", "%", "with OpenBLAS's micro-kernel, likewise", "clock" },
    { "sconv_openblas_ukr_percent", "%", "likewise", "clock" },
    { "sconv_openblas_other_percent", "%", "likewise", "clock" },
    { "sconv_openblas_to_base", "", "likewise", "clock" },
    { "sconv_tuned_packing_percent", "%", "tuned SConv, likewise", "clock" },
    { "sconv_tuned_ukr_percent", "%", "likewise", "clock" },
    { "sconv_tuned_other_percent", "%", "likewise", "clock" },
    { "sconv_tuned_to_base", "", "likewise", "clock" },
    EXP_COLUMN_MODEL,
};

static const struct exp_csv_column sorted_columns[] = {
    { "rank_percent", "%", "position among the method's speed-ups, sorted in descending order", "" },
    { "base_rows", "", "speed-up over base, sweep", "clock" },
    { "sconv", "", "likewise", "clock" },
    { "sconv_openblas", "", "likewise", "clock" },
    { "sconv_tuned", "", "likewise", "clock" },
    { "onednn_nchw", "", "likewise", "clock" },
    { "onednn_reorder", "", "likewise", "clock" },
    { "onednn_blocked", "", "likewise", "clock" },
};

static const struct exp_csv_file layers_file = EXP_CSV_FILE("layers.csv", layer_columns);
static const struct exp_csv_file samples_file = EXP_CSV_FILE("samples.csv", sample_columns);
static const struct exp_csv_file model_file = EXP_CSV_FILE("model.csv", total_columns);
static const struct exp_csv_file phases_file = EXP_CSV_FILE("phases.csv", phase_columns);
static const struct exp_csv_file speedups_file = EXP_CSV_FILE("speedups.csv", sorted_columns);
static const struct exp_csv_file pointwise_file = EXP_CSV_FILE("speedups_pointwise.csv", sorted_columns);

int exp_peers_report_open(struct exp_peers_report *r, const struct exp_outdir *dir, const char *what, char *why,
                          size_t why_bytes)
{
    int err;

    *r = (struct exp_peers_report){ .dir = dir };
    err = exp_csv_create(&r->layers, dir, &layers_file, what, why, why_bytes);
    if (!err)
        err = exp_csv_create(&r->samples, dir, &samples_file, what, why, why_bytes);
    return err;
}

/* ---- one model ---- */

static const char *plan_text(const struct exp_peers_layer *l, enum exp_peer m, char *text, size_t bytes)
{
    *text = '\0';
    if (exp_peer_is_sconv(m)) {
        const struct conv_plan *plan = &l->sconv[m - EXP_PEER_SCONV].c->plan;
        const struct csa_tiling *t = &plan->sconv.tiling;

        if (plan->algorithm == CONV_DIRECT)
            exp_say(text, bytes, "%s rows %zu groups %zu", conv_plan_kernel_name(plan), plan->direct.rows,
                    plan->direct.groups);
        else
            exp_say(text, bytes, "%s %s Nc %zu K2 %zu K3 %zu %s", csa_schedule_name(t->schedule), plan->ukr->name,
                    t->n_c, t->k2, t->k3, conv_plan_windows_name(plan));
    } else if (m >= EXP_PEER_NCHW && l->conv[m - EXP_PEER_NCHW]) {
        exp_say(text, bytes, "%s", exp_dnnl_impl(l->conv[m - EXP_PEER_NCHW]));
    }
    return text;
}

static const char *reason(const struct exp_peers_layer *l, enum exp_peers_cache c, enum exp_peer m)
{
    (void)c;
    return *l->why_not[m] ? l->why_not[m] : "not asked for (HOT=0)";
}

static void put_layer(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
                      const struct exp_peers_row *row, enum exp_peers_cache c, enum exp_peer m)
{
    const struct exp_peer_times *t = &l->times[c][m];
    const char *why = reason(l, c, m);
    const struct exp_times *times = &row->times[c][m];
    double ns = times->low_mean;
    char plan[160];

    exp_csv_string(r->layers, "model", p->experiment.model->name);
    exp_csv_u64(r->layers, "layer_index", l->base->layer->index);
    exp_csv_string(r->layers, "method", exp_peer_name(m));
    exp_csv_string(r->layers, "cache", exp_peers_cache_name(c));
    exp_csv_u64(r->layers, "pointwise", row->is_pointwise);
    exp_csv_double(r->layers, "macs", row->flop / 2);
    exp_csv_double(r->layers, "flop_per_byte", row->intensity);
    exp_csv_number(r->layers, "measured_time_ns", ns, why);
    exp_csv_number(r->layers, "measured_time_median_ns", times->median, why);
    exp_csv_number(r->layers, "measured_time_min_ns", times->fastest, why);
    exp_csv_u64(r->layers, "measured_reps", t->n);
    exp_csv_number(r->layers, "measured_gflops", row->flop / ns, why);
    exp_csv_number(r->layers, "measured_peak_percent", p->peak ? 100 * row->flop / ns / p->peak_gflops : (double)NAN,
                   p->peak ? why : "no FMA loop for this CPU");
    exp_csv_number(r->layers, "measured_speedup_vs_base", row->times[c][EXP_PEER_BASE].low_mean / ns, why);
    exp_csv_string(r->layers, "plan", plan_text(l, m, plan, sizeof plan));
    exp_csv_string(r->layers, "layer", l->base->layer->name);
    exp_csv_end_row(r->layers);
}

static void put_samples(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
                        enum exp_peers_cache c, enum exp_peer m)
{
    const struct exp_peer_times *t = &l->times[c][m];

    for (size_t i = 0; i < t->n; i++) {
        exp_csv_string(r->samples, "model", p->experiment.model->name);
        exp_csv_u64(r->samples, "layer_index", l->base->layer->index);
        exp_csv_string(r->samples, "method", exp_peer_name(m));
        exp_csv_string(r->samples, "cache", exp_peers_cache_name(c));
        exp_csv_u64(r->samples, "repetition", i + 1);
        exp_csv_u64(r->samples, "time_ns", t->sample_ns[i]);
        exp_csv_end_row(r->samples);
    }
}

static struct exp_peers_row make_row(const struct exp_peers_layer *l, size_t model)
{
    const struct conv_problem *p = &l->base->layer->problem;
    const size_t *bytes = l->sconv[0].c->plan.layout.bytes;
    struct exp_peers_row row = { .model = model, .is_pointwise = conv_is_pointwise(p), .flop = 2 * conv_macs(p) };

    row.intensity = row.flop / (double)(bytes[CONV_INPUT] + bytes[CONV_FILTER] + bytes[CONV_OUTPUT]);
    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        for (int m = 0; m < EXP_N_PEERS; m++)
            row.times[c][m] = exp_peers_times(l, (enum exp_peers_cache)c, (enum exp_peer)m);
    }
    return row;
}

static int grow(struct exp_peers_report *r, size_t n)
{
    struct exp_peers_row *row = realloc(r->row, (r->n_rows + n) * sizeof *row);
    struct exp_peers_model *model;

    if (!row)
        return -ENOMEM;
    r->row = row;
    model = realloc(r->model, (r->n_models + 1) * sizeof *model);
    if (!model)
        return -ENOMEM;
    r->model = model;
    return 0;
}

static void add_layer(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
                      struct exp_peers_model *model)
{
    struct exp_peers_row *row = &r->row[r->n_rows++];

    *row = make_row(l, r->n_models);
    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        for (int m = 0; m < EXP_N_PEERS; m++) {
            put_layer(r, p, l, row, (enum exp_peers_cache)c, (enum exp_peer)m);
            put_samples(r, p, l, (enum exp_peers_cache)c, (enum exp_peer)m);
        }
    }
    for (int m = 0; m < EXP_N_PEERS; m++) {
        if (!*model->why_not[m])
            memcpy(model->why_not[m], l->why_not[m], sizeof model->why_not[m]);
    }
    for (int m = 0; m < EXP_N_PEERS_SCONVS; m++)
        exp_phases_add(&model->sconv[m], &l->sconv[m].phases);
    exp_phases_add(&model->base, &l->base_phases);
}

static void add_certainty(const struct exp_peers *p, struct exp_peers_model *model)
{
    model->end = p->sweeps.end;
    model->disturbance = p->disturbance;
    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        model->n_rounds[c] = p->layer[0].times[c][EXP_PEER_BASE].n;
        for (int m = 0; m < EXP_N_PEERS; m++)
            model->speedup[c][m] = exp_peers_speedup(p, (enum exp_peers_cache)c, (enum exp_peer)m);
    }
}

int exp_peers_report_add(struct exp_peers_report *r, const struct exp_peers *p, char *why, size_t why_bytes)
{
    struct exp_peers_model *model;
    int err = grow(r, p->n_layers);

    if (err)
        return exp_fail(why, why_bytes, err, "out of memory");
    model = &r->model[r->n_models];
    *model = (struct exp_peers_model){ .peak_gflops = p->peak_gflops, .read_gbytes = p->read_gbytes };
    exp_say(model->name, sizeof model->name, "%s", p->experiment.model->name);
    memcpy(model->why_no_base_phases, p->why_no_parts, sizeof model->why_no_base_phases);
    add_certainty(p, model);
    for (size_t i = 0; i < p->n_layers; i++)
        add_layer(r, p, &p->layer[i], model);
    r->n_models++;
    err = exp_csv_error(r->layers) ? exp_csv_error(r->layers) : exp_csv_error(r->samples);
    return err ? exp_fail(why, why_bytes, err, "cannot write to '%s': %s", r->dir->path, strerror(-err)) : 0;
}

/* ---- all models ---- */

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

static const char *why_no_total(const struct exp_peers_report *r, size_t model, enum exp_peers_cache c, enum exp_peer m)
{
    size_t first = model < r->n_models ? model : 0;

    if (*r->model[first].why_not[m])
        return r->model[first].why_not[m];
    return c == EXP_PEERS_HOT ? "not asked for (HOT=0), or no such layers" : "no such layers";
}

/* How sure the speed-up over a network is, and what ended its rounds. */
static void put_certainty(const struct exp_peers_report *r, struct exp_csv *csv, size_t model, enum exp_peers_cache c,
                          enum exp_peer m, const char *why)
{
    const bool is_one = model < r->n_models;
    const struct exp_ratio none = exp_ratio_none(), *ratio = is_one ? &r->model[model].speedup[c][m] : &none;

    why = why ? why : is_one ? EXP_RATIO_NO_INTERVAL : "of each model";
    exp_cells_interval(csv, ratio, why);
    exp_cells_rounds(csv, is_one ? r->model[model].n_rounds[c] : 0,
                     is_one && c == EXP_PEERS_SWEEP ? r->model[model].end : EXP_END_FIXED, is_one ? NULL : why);
}

static void put_total(const struct exp_peers_report *r, struct exp_csv *csv, size_t model, enum exp_peers_cache c,
                      enum exp_peer m)
{
    struct exp_peers_total t = exp_peers_total(r, model, c, m);
    const char *why = why_no_total(r, model, c, m);
    bool is_one = model < r->n_models, has_peak = is_one && r->model[model].peak_gflops > 0;

    exp_csv_string(csv, "model", is_one ? r->model[model].name : "all");
    exp_csv_string(csv, "method", exp_peer_name(m));
    exp_csv_string(csv, "cache", exp_peers_cache_name(c));
    exp_csv_u64(csv, "layers", t.n_layers);
    exp_csv_u64(csv, "pointwise_layers", t.n_pointwise);
    exp_cells_sums(csv, &t.times, why);
    exp_csv_number(csv, "measured_network_speedup", t.network_ratio, why);
    put_certainty(r, csv, model, c, m, t.n_layers ? NULL : why);
    exp_csv_number(csv, "measured_layers_speedup", t.geomean_ratio, why);
    exp_csv_number(csv, "measured_won_percent", m == EXP_PEER_BASE ? (double)NAN : t.won_percent,
                   m == EXP_PEER_BASE ? "this is base" : why);
    exp_csv_number(csv, "measured_pointwise_won_percent", m == EXP_PEER_BASE ? (double)NAN : t.pointwise_won_percent,
                   m == EXP_PEER_BASE ? "this is base" : why);
    exp_csv_number(csv, "measured_peak_percent", t.peak_percent, why);
    exp_csv_number(csv, "peak_gflops", has_peak ? r->model[model].peak_gflops : (double)NAN,
                   is_one ? "no FMA loop for this CPU" : "sampled per model");
    exp_csv_number(csv, "read_gbytes", has_peak ? r->model[model].read_gbytes : (double)NAN,
                   is_one ? "no FMA loop for this CPU" : "sampled per model");
    exp_csv_end_row(csv);
}

/* "63 sweeps: the ratios stand; quiet: ..." */
static void describe_sweeps(const struct exp_peers_model *m, char *text, size_t bytes)
{
    char disturbance[320];

    exp_disturbance_describe(&m->disturbance, disturbance, sizeof disturbance);
    exp_say(text, bytes, "%zu sweeps: %s; %s", m->n_rounds[EXP_PEERS_SWEEP], exp_end_text(m->end), disturbance);
}

static int write_totals(struct exp_peers_report *r, const char *what, char *why, size_t why_bytes)
{
    struct exp_csv *csv;
    char text[480];
    int err = exp_csv_create(&csv, r->dir, &model_file, what, why, why_bytes);

    if (err)
        return err;
    for (size_t i = 0; i < r->n_models; i++) {
        describe_sweeps(&r->model[i], text, sizeof text);
        exp_csv_header(csv, r->model[i].name, "%s", text);
    }
    for (size_t i = 0; i <= r->n_models; i++) {
        for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
            for (int m = 0; m < EXP_N_PEERS; m++)
                put_total(r, csv, i, (enum exp_peers_cache)c, (enum exp_peer)m);
        }
    }
    return exp_csv_close(csv, why, why_bytes);
}

static double percent(uint64_t part, uint64_t whole)
{
    return 100 * (double)part / (double)whole;
}

static void put_part(struct exp_csv *csv, enum exp_peer m, const char *part, double x, const char *why)
{
    char column[64];

    snprintf(column, sizeof column, "%s_%s", exp_peer_name(m), part);
    exp_csv_number(csv, column, x, why);
}

static void put_sconv_phases(const struct exp_peers_model *model, enum exp_peer m, struct exp_csv *csv)
{
    const struct exp_phases *x = &model->sconv[m - EXP_PEER_SCONV];
    const char *why = *model->why_not[m] ? model->why_not[m] : "no time";

    put_part(csv, m, "packing_percent", percent(exp_phases_packing_ns(x), x->total_ns), why);
    put_part(csv, m, "ukr_percent", percent(exp_phases_kernel_ns(x), x->total_ns), why);
    put_part(csv, m, "other_percent", percent(exp_phases_other_ns(x), x->total_ns), why);
    put_part(csv, m, "to_base", x->total_ns ? (double)x->total_ns / (double)model->base.total_ns : (double)NAN,
             *model->why_no_base_phases ? model->why_no_base_phases : why);
}

/* Phases are sums over EXP_PEERS_PHASE_ROUNDS sweeps, the sweeps' times medians of one. */
static void put_phases(const struct exp_peers_report *r, size_t i, struct exp_csv *csv)
{
    const struct exp_peers_model *m = &r->model[i];
    double base_ns = exp_peers_total(r, i, EXP_PEERS_SWEEP, EXP_PEER_BASE).times.median * EXP_PEERS_PHASE_ROUNDS;
    const char *why = *m->why_no_base_phases ? m->why_no_base_phases : "no time";

    exp_csv_u64(csv, "number", i + 1);
    exp_csv_number(csv, "base_im2col_percent", percent(m->base.step_ns[CONV_STEP_IM2COL], m->base.total_ns), why);
    exp_csv_number(csv, "base_packing_percent", percent(exp_phases_packing_ns(&m->base), m->base.total_ns), why);
    exp_csv_number(csv, "base_ukr_percent", percent(m->base.step_ns[CONV_STEP_UKR], m->base.total_ns), why);
    exp_csv_number(csv, "base_other_percent", percent(exp_phases_other_ns(&m->base), m->base.total_ns), why);
    exp_csv_number(csv, "base_steps_to_call", m->base.total_ns ? (double)m->base.total_ns / base_ns : (double)NAN, why);
    for (int k = 0; k < EXP_N_PEERS_SCONVS; k++)
        put_sconv_phases(m, EXP_PEER_SCONV + (enum exp_peer)k, csv);
    exp_csv_string(csv, "model", m->name);
    exp_csv_end_row(csv);
}

static int write_phases(struct exp_peers_report *r, const char *what, char *why, size_t why_bytes)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, r->dir, &phases_file, what, why, why_bytes);

    if (err)
        return err;
    for (size_t i = 0; i < r->n_models; i++)
        put_phases(r, i, csv);
    return exp_csv_close(csv, why, why_bytes);
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* Fills x with a method's speed-ups, sorted; returns how many there are. */
static size_t sorted_speedups(const struct exp_peers_report *r, enum exp_peer m, bool only_pointwise, double *x)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_rows; i++) {
        const struct exp_times *times = r->row[i].times[EXP_PEERS_SWEEP];
        double speedup = times[EXP_PEER_BASE].low_mean / times[m].low_mean;

        if ((!only_pointwise || r->row[i].is_pointwise) && isfinite(speedup))
            x[n++] = speedup;
    }
    qsort(x, n, sizeof *x, descending);
    return n;
}

static int write_sorted(struct exp_peers_report *r, bool only_pointwise, const char *what, char *why, size_t why_bytes)
{
    double *x = calloc(r->n_rows * EXP_N_PEERS + 1, sizeof *x);
    size_t n[EXP_N_PEERS];
    struct exp_csv *csv;
    int err;

    if (!x)
        return exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    for (int m = 0; m < EXP_N_PEERS; m++)
        n[m] = sorted_speedups(r, (enum exp_peer)m, only_pointwise, x + (size_t)m * r->n_rows);
    err = exp_csv_create(&csv, r->dir, only_pointwise ? &pointwise_file : &speedups_file, what, why, why_bytes);
    for (size_t i = 0; i < n[EXP_PEER_BASE] && !err; i++) {
        exp_csv_double(csv, "rank_percent", 100 * ((double)i + 0.5) / (double)n[EXP_PEER_BASE]);
        for (size_t m = 1; m < EXP_N_PEERS; m++)
            exp_csv_number(csv, exp_peer_name((enum exp_peer)m), i < n[m] ? x[m * r->n_rows + i] : (double)NAN,
                           *r->model[0].why_not[m] ? r->model[0].why_not[m] : "has fewer layers");
        exp_csv_end_row(csv);
    }
    free(x);
    return err ? err : exp_csv_close(csv, why, why_bytes);
}

int exp_peers_report_finish(struct exp_peers_report *r, const char *what, char *why, size_t why_bytes)
{
    int err = exp_csv_close(r->layers, why, why_bytes), closed;

    r->layers = NULL;
    closed = exp_csv_close(r->samples, err ? NULL : why, err ? 0 : why_bytes);
    r->samples = NULL;
    err = err ? err : closed;
    if (!err)
        err = write_totals(r, what, why, why_bytes);
    if (!err)
        err = write_phases(r, what, why, why_bytes);
    if (!err)
        err = write_sorted(r, false, what, why, why_bytes);
    if (!err)
        err = write_sorted(r, true, what, why, why_bytes);
    return err;
}

void exp_peers_report_release(struct exp_peers_report *r)
{
    exp_csv_close(r->layers, NULL, 0);
    exp_csv_close(r->samples, NULL, 0);
    free(r->row);
    free(r->model);
    *r = (struct exp_peers_report){ 0 };
}

/* ---- the closing table ---- */

static void print_cell(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, " %8.2f", x);
    else
        fprintf(out, " %8s", "-");
}

static void print_line(const struct exp_peers_report *r, size_t model, FILE *out,
                       double (*of)(const struct exp_peers_report *r, size_t model, enum exp_peer m))
{
    fprintf(out, "%-16.16s", model < r->n_models ? r->model[model].name : r->n_models > 1 ? "all" : "");
    for (int m = 0; m < EXP_N_PEERS; m++)
        print_cell(out, of(r, model, (enum exp_peer)m));
    fprintf(out, "\n");
}

static double network_of(const struct exp_peers_report *r, size_t model, enum exp_peer m)
{
    return exp_peers_total(r, model, EXP_PEERS_SWEEP, m).network_ratio;
}

static double layers_of(const struct exp_peers_report *r, size_t model, enum exp_peer m)
{
    return exp_peers_total(r, model, EXP_PEERS_SWEEP, m).geomean_ratio;
}

static double hot_of(const struct exp_peers_report *r, size_t model, enum exp_peer m)
{
    return exp_peers_total(r, model, EXP_PEERS_HOT, m).network_ratio;
}

static double won_of(const struct exp_peers_report *r, size_t model, enum exp_peer m)
{
    return m == EXP_PEER_BASE ? (double)NAN : exp_peers_total(r, model, EXP_PEERS_SWEEP, m).won_percent;
}

static double pointwise_won_of(const struct exp_peers_report *r, size_t model, enum exp_peer m)
{
    return m == EXP_PEER_BASE ? (double)NAN : exp_peers_total(r, model, EXP_PEERS_SWEEP, m).pointwise_won_percent;
}

static double peak_of(const struct exp_peers_report *r, size_t model, enum exp_peer m)
{
    return exp_peers_total(r, model, EXP_PEERS_SWEEP, m).peak_percent;
}

static void print_sconv_phases(const struct exp_phases *x, FILE *out)
{
    print_cell(out, percent(exp_phases_packing_ns(x), x->total_ns));
    print_cell(out, percent(exp_phases_kernel_ns(x), x->total_ns));
    print_cell(out, percent(exp_phases_other_ns(x), x->total_ns));
}

static void print_phases(const struct exp_peers_report *r, FILE *out)
{
    fprintf(out,
            "\nshares of the time, %%\n%-16s %44s   %26s   %26s   %26s\n%-16s %9s %8s %8s %8s %7s   %8s %8s %8s   "
            "%8s %8s %8s   %8s %8s %8s\n",
            "", "base, with OpenBLAS's own routines", "sconv", "... with OpenBLAS's ukr", "sconv tuned", "", "im2col",
            "packing", "ukr", "other", "/ call", "packing", "ukr", "other", "packing", "ukr", "other", "packing", "ukr",
            "other");
    for (size_t i = 0; i < r->n_models; i++) {
        const struct exp_peers_model *m = &r->model[i];
        double call_ns = exp_peers_total(r, i, EXP_PEERS_SWEEP, EXP_PEER_BASE).times.median * EXP_PEERS_PHASE_ROUNDS;
        const struct exp_phases *b = &m->base;

        fprintf(out, "%-16.16s ", m->name);
        print_cell(out, percent(b->step_ns[CONV_STEP_IM2COL], b->total_ns));
        print_cell(out, percent(exp_phases_packing_ns(b), b->total_ns));
        print_cell(out, percent(b->step_ns[CONV_STEP_UKR], b->total_ns));
        print_cell(out, percent(exp_phases_other_ns(b), b->total_ns));
        fprintf(out, " %7.2f", (double)b->total_ns / call_ns);
        for (int k = 0; k < EXP_N_PEERS_SCONVS; k++) {
            fprintf(out, "  ");
            print_sconv_phases(&m->sconv[k], out);
        }
        fprintf(out, "\n");
        if (*m->why_no_base_phases)
            fprintf(out, "base's shares not available: %s\n", m->why_no_base_phases);
    }
}

static void print_sweeps(const struct exp_peers_report *r, FILE *out)
{
    char text[480];

    fprintf(out, "\n");
    for (size_t i = 0; i < r->n_models; i++) {
        describe_sweeps(&r->model[i], text, sizeof text);
        fprintf(out, "%s: %s\n", r->model[i].name, text);
    }
}

void exp_peers_report_print(const struct exp_peers_report *r, FILE *out)
{
    static const struct {
        const char *title;
        double (*of)(const struct exp_peers_report *r, size_t model, enum exp_peer m);
    } parts[] = {
        { "speed-up over base, sum over the network (all: geometric mean)", network_of },
        { "speed-up over base, geometric mean over the layers", layers_of },
        { "the same sums, hot", hot_of },
        { "layers faster than base, %", won_of },
        { "pointwise layers faster than BLAS's GEMM, %", pointwise_won_of },
        { "share of the FMA peak, % of nominal flop", peak_of },
    };

    for (size_t i = 0; i < N_OF(parts); i++) {
        fprintf(out, "\n%s\n%-16s %8s %8s %8s %8s %8s %8s %8s %8s\n", parts[i].title, "", "base", "rows", "sconv",
                "blas ukr", "tuned", "nchw", "reorder", "blocked");
        for (size_t k = 0; k < r->n_models + (r->n_models > 1); k++)
            print_line(r, k, out, parts[i].of);
    }
    print_phases(r, out);
    print_sweeps(r, out);
    for (int m = 0; m < EXP_N_PEERS; m++) {
        for (size_t i = 0; i < r->n_models; i++) {
            if (*r->model[i].why_not[m])
                fprintf(out, "%s, %s: not available: %s\n", exp_peer_name((enum exp_peer)m), r->model[i].name,
                        r->model[i].why_not[m]);
        }
    }
}

/* ---- documentation ---- */

void exp_peers_report_document(FILE *out)
{
    const struct exp_csv_file *const files[] = { &layers_file, &samples_file,  &model_file,
                                                 &phases_file, &speedups_file, &pointwise_file };

    for (size_t i = 0; i < N_OF(files); i++)
        exp_csv_document(files[i], out);
}
