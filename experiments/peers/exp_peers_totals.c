/* Sums over the layers of models, and model.csv: exp_peers_report.h, exp_peers_report.h. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"
#include "experiments/peers/exp_peers_report.h"
#include "experiments/report/exp_cells.h"

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

/* Describes the sweeps: "63 sweeps: the ratios stand; quiet: ..." */
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
