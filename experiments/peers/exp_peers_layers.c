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

/* Names come last: gnuplot cuts a quoted field at its first comma. */
static const struct exp_csv_column layer_columns[] = {
    EXP_COLUMN_MODEL,
    EXP_COLUMN_LAYER_INDEX,
    { "method", "", EXP_EACH_PEER(NAME_AND_NOTE), "" },
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
    EXP_COLUMNS_MARK,
};

const struct exp_csv_file exp_peers_layers_file = EXP_CSV_FILE("layers.csv", layer_columns);
const struct exp_csv_file exp_peers_samples_file = EXP_CSV_FILE("samples.csv", sample_columns);

static const char *plan_text(const struct exp_peers_layer *l, enum exp_peer m, char *text, size_t bytes)
{
    *text = '\0';
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
    return text;
}

static const char *reason(const struct exp_peers_model *model, const struct exp_peers_layer *l, enum exp_peers_cache c,
                          enum exp_peer m)
{
    return *l->why_not[m]             ? l->why_not[m]
           : *model->why_disturbed[c] ? model->why_disturbed[c]
                                      : "not asked for (HOT=0)";
}

void exp_peers_put_layer(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
                         const struct exp_peers_row *row, enum exp_peers_cache c, enum exp_peer m)
{
    const struct exp_peer_times *t = &l->times[c][m];
    const char *why = reason(&r->model[r->n_models], l, c, m);
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

void exp_peers_put_samples(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
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
        exp_cells_mark(r->samples, &t->mark[i]);
        exp_csv_end_row(r->samples);
    }
}
