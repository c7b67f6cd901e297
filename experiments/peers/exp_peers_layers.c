/* layers.csv and samples.csv: exp_peers_files.h. */
#include <math.h>

#include "experiments/base/exp_error.h"
#include "experiments/peers/exp_peers_files.h"
#include "experiments/report/exp_cells.h"

/* Names and notes, with commas between them. */
#define NAME_AND_NOTE(number, kind, name, head, note, ...) COMMA_BEFORE_##kind name note
#define COMMA_BEFORE_BASE
#define COMMA_BEFORE_BASE_BY ", "
#define COMMA_BEFORE_SCONV ", "
#define COMMA_BEFORE_CODE ", "
#define COMMA_BEFORE_ONEDNN ", "

struct layer_row {
    const char *model, *method, *cache, *layer;
    size_t layer_index, n_reps;
    bool is_pointwise;
    double macs, intensity, gflops, peak_percent, speedup;
    struct exp_times times;
    char plan[160];
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
    { { "method", "", EXP_EACH_PEER(NAME_AND_NOTE), "" }, REC_AT(LAYER, method) },
    { { "cache", "", "sweep: the network layer by layer, weights cold; hot: the layer again and again", "" },
      REC_AT(LAYER, cache) },
    { EXP_COLUMN_POINTWISE, REC_AT(LAYER, is_pointwise) },
    { EXP_COLUMN_MACS, REC_AT(LAYER, macs) },
    { { "flop_per_byte", "flop/byte", "2 * macs / bytes of input, filter and output", "" }, REC_AT(LAYER, intensity) },
    { EXP_COLUMN_TIME, REC_NAN_OR(LAYER, times.low_mean, why) },
    { EXP_COLUMN_TIME_MEDIAN, REC_NAN_OR(LAYER, times.median, why) },
    { EXP_COLUMN_TIME_MIN, REC_NAN_OR(LAYER, times.fastest, why) },
    { EXP_COLUMN_REPS, REC_AT(LAYER, n_reps) },
    { EXP_COLUMN_GFLOPS, REC_NAN_OR(LAYER, gflops, why) },
    { { "measured_peak_percent", "%",
        "of the FMA peak sampled between the model's sweeps; over 100 where skipped padding counts", "clock" },
      REC_NAN_OR(LAYER, peak_percent, why_no_peak) },
    { EXP_COLUMN_SPEEDUP(", same cache state"), REC_NAN_OR(LAYER, speedup, why) },
    { { "plan", "",
        "SConv: schedule, micro-kernel, " CSA_NC_TEXT ", " CSA_K2_TEXT ", " CSA_K3_TEXT
        ", in place or packed windows; oneDNN: its implementation", "" },
      REC_AT(LAYER, plan) },
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

static void say_plan(const struct exp_peers_layer *l, enum exp_peer m, char *text, size_t bytes)
{
    if (exp_peer_is_planned(m)) {
        const struct conv_plan *plan = &l->sconv[m - EXP_PEER_SCONV].c->plan;
        const struct csa_tiling *t = &plan->sconv.tiling;

        if (plan->algorithm == CONV_DIRECT)
            exp_say(text, bytes, "%s rows %zu groups %zu", conv_plan_kernel_name(plan), plan->direct.rows,
                    plan->direct.groups);
        else
            exp_say(text, bytes, "%s %s Nc %zu K2 %zu K3 %zu %s", csa_schedule_name(t->schedule), plan->ukr->name,
                    t->n_c, t->k2, t->k3, conv_plan_windows_name(plan));
    } else if (exp_peer_is_onednn(m) && l->conv[m - EXP_PEER_NCHW]) {
        exp_say(text, bytes, "%s", exp_dnnl_impl(l->conv[m - EXP_PEER_NCHW]));
    }
}

static const char *reason(const struct exp_peers_model *model, const struct exp_peers_layer *l, enum exp_peers_cache c,
                          enum exp_peer m)
{
    return *l->why_not[m]             ? l->why_not[m]
           : *model->why_disturbed[c] ? model->why_disturbed[c]
                                      : "not asked for (HOT=0)";
}

void exp_peers_put_layer(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
                         const struct exp_peers_row *of, enum exp_peers_cache c, enum exp_peer m)
{
    const char *why = reason(&r->model[r->n_models], l, c, m);
    const struct exp_times *times = &of->times[c][m];
    double ns = times->low_mean;
    LAYER row = {
        .model = p->experiment.model->name,
        .method = exp_peer_name(m),
        .cache = exp_peers_cache_name(c),
        .layer = l->base->layer->name,
        .layer_index = l->base->layer->index,
        .n_reps = l->times[c][m].n,
        .is_pointwise = of->is_pointwise,
        .macs = of->flop / 2,
        .intensity = of->intensity,
        .gflops = of->flop / ns,
        .peak_percent = p->peak ? 100 * of->flop / ns / p->peak_gflops : (double)NAN,
        .speedup = of->times[c][EXP_PEER_BASE].low_mean / ns,
        .times = *times,
        .why = why,
        .why_no_peak = p->peak ? why : "no FMA loop for this CPU",
    };

    say_plan(l, m, row.plan, sizeof row.plan);
    rec_put(r->layers, &exp_peers_layers_table, &row);
}

void exp_peers_put_samples(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
                           enum exp_peers_cache c, enum exp_peer m)
{
    const struct exp_peer_times *t = &l->times[c][m];

    for (size_t i = 0; i < t->n; i++) {
        const SAMPLE row = {
            .model = p->experiment.model->name,
            .method = exp_peer_name(m),
            .cache = exp_peers_cache_name(c),
            .layer_index = l->base->layer->index,
            .repetition = i + 1,
            .time_ns = t->sample_ns[i],
            .mark = t->mark[i],
            .why_no_mark = t->mark[i].clock_ns ? NULL : EXP_NO_MARK,
        };

        rec_put(r->samples, &exp_peers_samples_table, &row);
    }
}
