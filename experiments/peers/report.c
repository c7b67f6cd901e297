#include "experiments/peers/peers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"
#include "experiments/base/error.h"
#include "experiments/base/stats.h"

/* ---- layers.csv and samples.csv ---- */

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

/* Writes the row of one layer, method and state of the caches. */
static void put_layer(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
                      const struct exp_peers_row *of, enum exp_peers_cache c, enum exp_peer m)
{
    const char *why = reason(&r->model[r->n_models - 1], l, c, m);
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

static void put_samples(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
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

/* ---- phases.csv: where Base's and SConv's time goes ---- */

/* Percents of a time, and that time beside another one. */
struct shares {
    double im2col, packing, ukr, other, ratio;
    const char *why, *why_no_ratio;
};

struct phases_row {
    size_t number;
    struct shares of[EXP_PEER_GEN]; /* by enum exp_peer: Base and the SConvs */
    const char *model;
};

#define PHASES struct phases_row
#define PART(m, part) REC_NAN_OR(PHASES, of[m].part, of[m].why)
#define RATIO(m) REC_NAN_OR(PHASES, of[m].ratio, of[m].why_no_ratio)

/* clang-format off */
#define PHASE_FIELDS(m, kind, name, ...) PHASE_FIELDS_OF_##kind(m, name)
#define PHASE_FIELDS_OF_BASE(m, name)                                                                                  \
    { { "base_im2col_percent", "%", "of base's time, run step by step with OpenBLAS's own routines", "clock" },        \
      PART(m, im2col) },                                                                                               \
    { { "base_packing_percent", "%", "OpenBLAS's copy routines", "clock" }, PART(m, packing) },                        \
    { { "base_ukr_percent", "%", "OpenBLAS's micro-kernel", "clock" }, PART(m, ukr) },                                 \
    { { "base_other_percent", "%", "the rest: clearing the output, loops", "clock" }, PART(m, other) },                \
    { { "base_steps_to_call", "",                                                                                      \
        "that time / base's time with cblas_sgemm in the sweeps: near 1, or the shares are not the call's", "clock" }, \
      RATIO(m) },
#define PHASE_FIELDS_OF_BASE_BY(m, name)
#define PHASE_FIELDS_OF_CODE(m, name)
#define PHASE_FIELDS_OF_ONEDNN(m, name)
#define PHASE_FIELDS_OF_SCONV(m, name)                                                                                 \
    { { name "_packing_percent", "%", "of the time of " name ": packing windows", "clock" }, PART(m, packing) },       \
    { { name "_ukr_percent", "%", "micro-kernels", "clock" }, PART(m, ukr) },                                          \
    { { name "_other_percent", "%", "the rest", "clock" }, PART(m, other) },                                           \
    { { name "_to_base", "", "that time / base's time in this measurement", "clock" }, RATIO(m) },

static const struct rec_field phase_fields[] = {
    { { "number", "", "of the model, from 1", "" }, REC_AT(PHASES, number) },
    EXP_EACH_PEER(PHASE_FIELDS)
    { EXP_COLUMN_MODEL, REC_AT(PHASES, model) },
};
/* clang-format on */

const struct rec_table exp_peers_phases_table = REC_TABLE("phases.csv", phase_fields, PHASES);

static double percent(uint64_t part, uint64_t whole)
{
    return 100 * (double)part / (double)whole;
}

/*
 * Returns how long Base's calls took in as many sweeps as phases were summed over, in ns. The time of Base's steps is
 * compared with that. These are medians, as phases have no rounds to choose from.
 */
static double base_calls_ns(const struct exp_peers_report *r, size_t model)
{
    return exp_peers_total(r, model, EXP_PEERS_SWEEP, EXP_PEER_BASE).times.median * EXP_PEERS_PHASE_ROUNDS;
}

static struct shares shares_of(const struct exp_phases *x, double beside_ns, const char *why, const char *why_no_ratio)
{
    return (struct shares){
        .im2col = percent(x->step_ns[CONV_STEP_IM2COL], x->total_ns),
        .packing = percent(exp_phases_packing_ns(x), x->total_ns),
        .ukr = percent(exp_phases_kernel_ns(x), x->total_ns),
        .other = percent(exp_phases_other_ns(x), x->total_ns),
        .ratio = x->total_ns ? (double)x->total_ns / beside_ns : (double)NAN,
        .why = *why ? why : "no time",
        .why_no_ratio = *why_no_ratio ? why_no_ratio
                        : *why        ? why
                                      : "no time",
    };
}

static PHASES phases_of(const struct exp_peers_report *r, size_t model)
{
    const struct exp_peers_model *x = &r->model[model];
    const char *no_base = x->why_no_base_phases;
    PHASES row = { .number = model + 1, .model = x->name };

    row.of[EXP_PEER_BASE] = shares_of(&x->base, base_calls_ns(r, model), no_base, no_base);
    for (size_t m = EXP_PEER_SCONV; m < EXP_PEER_GEN; m++)
        row.of[m] = shares_of(&x->sconv[m - EXP_PEER_SCONV], (double)x->base.total_ns, x->why_not[m], no_base);
    return row;
}

static int write_phases(const struct exp_peers_report *r, const char *what, struct exp_why *why)
{
    PHASES *row = exp_new(r->n_models + 1, sizeof *row);
    int err;

    for (size_t i = 0; i < r->n_models; i++)
        row[i] = phases_of(r, i);
    err = rec_write(&exp_peers_phases_table, row, r->n_models, r->dir, what, why);
    free(row);
    return err;
}

/* ---- speedups.csv and speedups_pointwise.csv, for figures ---- */

struct curve_row {
    double rank_percent, speedup[EXP_N_PEERS];
    const char *why_none[EXP_N_PEERS];
};

#define CURVE struct curve_row

/* clang-format off */
#define SPEEDUP(m, kind, name, ...) SPEEDUP_OF_##kind(m, name)
#define SPEEDUP_OF_BASE(m, name) /* what all are compared with */
#define SPEEDUP_OF_BASE_BY(m, name)                                                                                    \
    { { name, "", "speed-up over base, sweep", "clock" }, REC_NAN_OR(CURVE, speedup[m], why_none[m]) },
#define SPEEDUP_OF_SCONV SPEEDUP_OF_BASE_BY
#define SPEEDUP_OF_CODE SPEEDUP_OF_BASE_BY
#define SPEEDUP_OF_ONEDNN SPEEDUP_OF_BASE_BY

static const struct rec_field curve_fields[] = {
    { { "rank_percent", "%", "position among the method's speed-ups, sorted in descending order", "" },
      REC_AT(CURVE, rank_percent) },
    EXP_EACH_PEER(SPEEDUP)
};
/* clang-format on */

const struct rec_table exp_peers_speedups_table = REC_TABLE("speedups.csv", curve_fields, CURVE);
const struct rec_table exp_peers_pointwise_table = REC_TABLE("speedups_pointwise.csv", curve_fields, CURVE);

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
    exp_stats_sort_down(x, n);
    return n;
}

static int write_curves(const struct exp_peers_report *r, bool only_pointwise, const char *what, struct exp_why *why)
{
    const struct rec_table *t = only_pointwise ? &exp_peers_pointwise_table : &exp_peers_speedups_table;
    double *x = exp_new(r->n_rows + 1, sizeof *x);
    CURVE *row = exp_new(r->n_rows + 1, sizeof *row);
    size_t n_base = 0;
    int err;

    for (size_t m = 0; m < EXP_N_PEERS; m++) {
        size_t n = sorted_speedups(r, (enum exp_peer)m, only_pointwise, x);

        n_base = m == EXP_PEER_BASE ? n : n_base;
        for (size_t i = 0; i < n_base; i++) {
            row[i].rank_percent = 100 * ((double)i + 0.5) / (double)n_base;
            row[i].speedup[m] = i < n ? x[i] : (double)NAN;
            row[i].why_none[m] = *r->model->why_not[m] ? r->model->why_not[m] : "has fewer layers";
        }
    }
    err = rec_write(t, row, n_base, r->dir, what, why);
    free(row);
    free(x);
    return err;
}

int exp_peers_report_open(struct exp_peers_report *r, const struct exp_outdir *dir, const char *what,
                          struct exp_why *why)
{
    int err;

    *r = (struct exp_peers_report){ .dir = dir };
    err = exp_csv_create(&r->layers, dir, &exp_peers_layers_table.file, what, why);
    if (!err)
        err = exp_csv_create(&r->samples, dir, &exp_peers_samples_table.file, what, why);
    return err;
}

/* ---- one model ---- */

struct exp_peers_row exp_peers_make_row(const struct exp_peers_layer *l, size_t model, const struct exp_peers_model *of)
{
    const struct conv_problem *p = &l->base->layer->problem;
    const size_t *bytes = l->sconv[0].c->plan.layout.bytes;
    struct exp_peers_row row = { .model = model, .is_pointwise = conv_is_pointwise(p), .flop = 2 * conv_macs(p) };

    row.intensity = row.flop / (double)(bytes[CONV_INPUT] + bytes[CONV_FILTER] + bytes[CONV_OUTPUT]);
    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        for (int m = 0; m < EXP_N_PEERS; m++)
            row.times[c][m] = *of->why_disturbed[c] ? exp_times_of(NULL, 0)
                                                    : exp_peers_times(l, (enum exp_peers_cache)c, (enum exp_peer)m);
    }
    return row;
}

static void add_layer(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
                      struct exp_peers_model *model)
{
    struct exp_peers_row *row = exp_append(&r->row, &r->n_rows, sizeof *row);

    *row = exp_peers_make_row(l, r->n_models - 1, model);
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

void exp_peers_model_judge(struct exp_peers_model *model, const struct exp_peers *p)
{
    char said[128];

    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        model->ruled[c] = p->ruled[c];
        exp_ruler_say(&p->ruled[c], said, sizeof said);
        if (!exp_ruler_is_measured(&p->ruled[c]))
            exp_say(model->why_disturbed[c], sizeof model->why_disturbed[c], "not measured: disturbed: %s", said);
    }
}

static void add_certainty(const struct exp_peers *p, struct exp_peers_model *model)
{
    model->end = p->sweeps.end;
    model->disturbance = p->disturbance;
    exp_peers_model_judge(model, p);
    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        model->n_rounds[c] = p->layer[0].times[c][EXP_PEER_BASE].n;
        for (int m = 0; m < EXP_N_PEERS; m++)
            model->speedup[c][m] = *model->why_disturbed[c]
                                       ? exp_ratio_none()
                                       : exp_peers_speedup(p, (enum exp_peers_cache)c, (enum exp_peer)m);
    }
}

int exp_peers_report_add(struct exp_peers_report *r, const struct exp_peers *p, struct exp_why *why)
{
    struct exp_peers_model *model = exp_append(&r->model, &r->n_models, sizeof *model);
    int err;

    model->peak_gflops = p->peak_gflops;
    model->read_gbytes = p->read_gbytes;
    exp_say(model->name, sizeof model->name, "%s", p->experiment.model->name);
    memcpy(model->why_no_base_phases, p->why_no_parts, sizeof model->why_no_base_phases);
    add_certainty(p, model);
    for (size_t i = 0; i < p->n_layers; i++)
        add_layer(r, p, &p->layer[i], model);
    err = exp_csv_error(r->layers) ? exp_csv_error(r->layers) : exp_csv_error(r->samples);
    return err ? exp_fail(why, err, "cannot write to '%s': %s", r->dir->path, strerror(-err)) : 0;
}

/* ---- all models ---- */

int exp_peers_report_finish(struct exp_peers_report *r, const char *what, struct exp_why *why)
{
    int err = exp_csv_close(r->layers, why), closed;

    r->layers = NULL;
    closed = exp_csv_close(r->samples, err ? NULL : why);
    r->samples = NULL;
    err = err ? err : closed;
    if (!err)
        err = exp_peers_write_totals(r, what, why);
    if (!err)
        err = write_phases(r, what, why);
    if (!err)
        err = write_curves(r, false, what, why);
    if (!err)
        err = write_curves(r, true, what, why);
    return err;
}

void exp_peers_report_release(struct exp_peers_report *r)
{
    exp_csv_close(r->layers, NULL);
    exp_csv_close(r->samples, NULL);
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

static void print_heads(const char *title, FILE *out)
{
    fprintf(out, "\n%s\n%-16s", title, "");
    for (int m = 0; m < EXP_N_PEERS; m++)
        fprintf(out, " %8s", exp_peer_head((enum exp_peer)m));
    fprintf(out, "\n");
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

static void print_shares(const struct shares *x, FILE *out)
{
    print_cell(out, x->packing);
    print_cell(out, x->ukr);
    print_cell(out, x->other);
}

static void print_phase_heads(FILE *out)
{
    fprintf(out, "\nshares of the time, %%\n%-16s %44s", "", "base, with OpenBLAS's own routines");
    for (int m = EXP_PEER_SCONV; m < EXP_PEER_SCONV + EXP_N_PEERS_SCONVS; m++)
        fprintf(out, "   %26s", exp_peer_name((enum exp_peer)m));
    fprintf(out, "\n%-16s %9s %8s %8s %8s %7s", "", "im2col", "packing", "ukr", "other", "/ call");
    for (int k = 0; k < EXP_N_PEERS_SCONVS; k++)
        fprintf(out, "   %8s %8s %8s", "packing", "ukr", "other");
    fprintf(out, "\n");
}

static void print_phases(const struct exp_peers_report *r, FILE *out)
{
    print_phase_heads(out);
    for (size_t i = 0; i < r->n_models; i++) {
        const struct exp_peers_model *m = &r->model[i];
        const PHASES row = phases_of(r, i);

        fprintf(out, "%-16.16s ", m->name);
        print_cell(out, row.of[EXP_PEER_BASE].im2col);
        print_shares(&row.of[EXP_PEER_BASE], out);
        fprintf(out, " %7.2f", (double)m->base.total_ns / base_calls_ns(r, i));
        for (int k = EXP_PEER_SCONV; k < EXP_PEER_GEN; k++) {
            fprintf(out, "  ");
            print_shares(&row.of[k], out);
        }
        fprintf(out, "\n");
        if (*m->why_no_base_phases)
            fprintf(out, "base's shares not available: %s\n", m->why_no_base_phases);
    }
}

static void print_sweeps(const struct exp_peers_report *r, FILE *out)
{
    char text[640];

    fprintf(out, "\n");
    for (size_t i = 0; i < r->n_models; i++) {
        exp_peers_describe_sweeps(&r->model[i], text, sizeof text);
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

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        print_heads(parts[i].title, out);
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

/* ---- what the figures are told ---- */

static bool is_any(enum exp_peer m)
{
    return m < EXP_N_PEERS;
}

static bool is_other(enum exp_peer m)
{
    return m != EXP_PEER_BASE && !exp_peer_is_sconv(m);
}

static const struct {
    const char *name, *quote;
    const char *(*text_of)(enum exp_peer m);
    bool (*is_in)(enum exp_peer m);
} lists[] = {
    { "peer_names", "", exp_peer_name, is_any },     { "peer_titles", "\"", exp_peer_title, is_any },
    { "peer_colours", "", exp_peer_colour, is_any }, { "sconv_peers", "", exp_peer_name, exp_peer_is_sconv },
    { "other_peers", "", exp_peer_name, is_other },
};

void exp_peers_set_variables(const struct exp_peers_report *r, struct exp_variables *v)
{
    double peak = 0, read = 0;
    char text[32];

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (enum exp_peer m = 0; m < EXP_N_PEERS; m++) {
            if (lists[i].is_in(m))
                exp_variables_add(v, lists[i].name, lists[i].quote, lists[i].text_of(m));
        }
    }
    for (size_t i = 0; i < r->n_models; i++) {
        peak += r->model[i].peak_gflops / (double)r->n_models;
        read += r->model[i].read_gbytes / (double)r->n_models;
    }
    exp_say(text, sizeof text, "%g", peak);
    exp_variables_set(v, "peak_gflops", text);
    exp_say(text, sizeof text, "%g", read);
    exp_variables_set(v, "read_gbytes", text);
}
