#include "experiments/paper/exp_paper_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/replay/exp_estimate.h"
#include "experiments/replay/exp_totals.h"
#include "experiments/report/exp_cells.h"

const struct exp_paper_setting exp_paper_settings[EXP_PAPER_N_SETTINGS] = {
#define SETTING(id_, kind_, machine_, cache_, algos_, what_)                                                           \
    { #id_, EXP_PAPER_##kind_, machine_, cache_, algos_, what_ },
#include "experiments/paper/settings.def"
};

/* ---- what a case says ---- */

typedef double (*number_fn)(const struct exp_paper_source *s, const struct exp_case *c, const char **why);

static double time_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    (void)s;
    *why = c->measured.why_no_time;
    return exp_case_times(c).low_mean;
}

/* The standard deviation of the rounds, in percent of their mean: the paper reports it. */
static double spread_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    const struct exp_measured *m = &c->measured;
    double sum = 0, squares = 0, n = (double)m->n_samples, mean;

    (void)s;
    *why = m->why_no_time ? m->why_no_time : m->n_samples < 2 ? "one round has no spread" : NULL;
    for (size_t i = 0; i < m->n_samples; i++)
        sum += (double)m->sample_ns[i];
    mean = sum / n;
    for (size_t i = 0; i < m->n_samples; i++)
        squares += ((double)m->sample_ns[i] - mean) * ((double)m->sample_ns[i] - mean);
    return 100 * sqrt(squares / (n - 1)) / mean;
}

static double rounds_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    (void)s;
    *why = c->measured.why_no_time;
    return (double)c->measured.n_samples;
}

/* Im2col is packing in the paper's Figure 10. */
static double packing_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    (void)s;
    *why = exp_case_why_no_phases(c);
    return (double)(exp_phases_packing_ns(&c->measured.phases) + c->measured.phases.step_ns[CONV_STEP_IM2COL]);
}

static double kernel_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    (void)s;
    *why = exp_case_why_no_phases(c);
    return (double)exp_phases_kernel_ns(&c->measured.phases);
}

static double steps_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    (void)s;
    *why = exp_case_why_no_phases(c);
    return (double)c->measured.phases.total_ns;
}

/* Counts of accesses, and what to multiply them by. */
struct stream {
    const struct sim_stats *stats;
    double scale;
};

static struct stream simulated(const struct exp_simulated *x, const char **why)
{
    *why = x->why_not;
    return (struct stream){ &x->stats, 1 };
}

/* The observed part of a layer stands for all of it. */
static struct stream observed(const struct exp_watched *x, const char **why)
{
    *why = x->why_not;
    return (struct stream){ x->seen, 1 / x->share };
}

static struct stream stream_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    return s->kind == EXP_PAPER_OBSERVED ? observed(&c->observed, why) : simulated(&c->simulated, why);
}

static struct stream alone_stream_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    (void)s;
    return simulated(&c->alone, why);
}

static double loads_in(struct stream x, const char *why)
{
    return why ? (double)NAN : x.scale * (double)sim_stats_total(x.stats).loads;
}

static double misses_in(struct stream x, size_t name, const char *why)
{
    struct sim_cell sum;

    if (why)
        return (double)NAN;
    sum = sim_stats_total(x.stats);
    return x.scale * exp_load_misses(x.stats, &sum, name);
}

static double loads_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    const struct stream x = stream_of(s, c, why);

    return loads_in(x, *why);
}

static double alone_loads_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    const struct stream x = alone_stream_of(s, c, why);

    return loads_in(x, *why);
}

#define MISSES_OF(which, number)                                                                                       \
    static double which##_misses_##number(const struct exp_paper_source *s, const struct exp_case *c,                  \
                                          const char **why)                                                            \
    {                                                                                                                  \
        const struct stream x = which##_of(s, c, why);                                                                 \
        return misses_in(x, number - 1, *why);                                                                         \
    }
MISSES_OF(stream, 1)
MISSES_OF(stream, 2)
MISSES_OF(stream, 3)
MISSES_OF(alone_stream, 1)
MISSES_OF(alone_stream, 2)
MISSES_OF(alone_stream, 3)

static struct exp_estimate estimate_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    *why = exp_estimate_why_not_case(&s->e->setup->machine, c);
    return *why ? (struct exp_estimate){ 0 } : exp_estimate(&s->e->setup->machine, c);
}

static double issue_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    return estimate_of(s, c, why).issue_cycles;
}

static double waiting_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    return estimate_of(s, c, why).total_cycles;
}

static double packing_cycles_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    return estimate_of(s, c, why).packing_cycles;
}

static double peak_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    const struct sim_issue *i = &s->e->setup->machine.issue;
    double cycle = i->mac_rows * i->mac_columns * i->mac_instructions_per_cycle;

    (void)c;
    *why = s->kind == EXP_PAPER_TIMED ? isnan(s->peak) ? "there is no loop for this CPU's peak" : NULL
           : cycle > 0                ? NULL
                                      : exp_estimate_why_not(&s->e->setup->machine);
    return s->kind == EXP_PAPER_TIMED ? s->peak : cycle;
}

static const struct csa_tiling *tiling_of(const struct exp_case *c, const char **why)
{
    *why = c->plan.algorithm == CONV_SCONV ? NULL : "it is not SConv";
    return *why ? NULL : &c->plan.sconv.tiling;
}

static double chosen_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    (void)s;
    *why = NULL;
    return c->is_chosen;
}

static double is_ws_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    const struct csa_tiling *t = tiling_of(c, why);

    (void)s;
    return t && t->schedule == CSA_WS;
}

static double n_win_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    const struct csa_tiling *t = tiling_of(c, why);

    (void)s;
    return t ? (double)t->n_win : 0;
}

static double n_f_of(const struct exp_paper_source *s, const struct exp_case *c, const char **why)
{
    const struct csa_tiling *t = tiling_of(c, why);

    (void)s;
    return t ? (double)t->n_f : 0;
}

/* ---- the columns ---- */

enum { TIMED = 1 << EXP_PAPER_TIMED, REPLAYED = 1 << EXP_PAPER_REPLAYED, OBSERVED = 1 << EXP_PAPER_OBSERVED };

/* A column's number, the kinds of settings that have it, and what it is. The recorded kind fills rows by itself. */
static const struct {
    number_fn of;
    unsigned kinds;
} values[EXP_PAPER_N_VALUES] = {
    [EXP_PAPER_TIME] = { time_of, TIMED },
    [EXP_PAPER_SPREAD] = { spread_of, TIMED },
    [EXP_PAPER_ROUNDS] = { rounds_of, TIMED },
    [EXP_PAPER_PACKING] = { packing_of, TIMED },
    [EXP_PAPER_KERNEL] = { kernel_of, TIMED },
    [EXP_PAPER_STEPS] = { steps_of, TIMED },
    [EXP_PAPER_LOADS] = { loads_of, REPLAYED | OBSERVED },
    [EXP_PAPER_MISSES_1] = { stream_misses_1, REPLAYED | OBSERVED },
    [EXP_PAPER_MISSES_2] = { stream_misses_2, REPLAYED | OBSERVED },
    [EXP_PAPER_MISSES_3] = { stream_misses_3, REPLAYED | OBSERVED },
    [EXP_PAPER_ALONE_LOADS] = { alone_loads_of, REPLAYED },
    [EXP_PAPER_ALONE_MISSES_1] = { alone_stream_misses_1, REPLAYED },
    [EXP_PAPER_ALONE_MISSES_2] = { alone_stream_misses_2, REPLAYED },
    [EXP_PAPER_ALONE_MISSES_3] = { alone_stream_misses_3, REPLAYED },
    [EXP_PAPER_ISSUE_CYCLES] = { issue_of, REPLAYED },
    [EXP_PAPER_WAITING_CYCLES] = { waiting_of, REPLAYED },
    [EXP_PAPER_PACKING_CYCLES] = { packing_cycles_of, REPLAYED },
    [EXP_PAPER_PEAK] = { peak_of, TIMED | REPLAYED },
    [EXP_PAPER_CHOSEN] = { chosen_of, TIMED | REPLAYED | OBSERVED },
    [EXP_PAPER_IS_WS] = { is_ws_of, TIMED | REPLAYED | OBSERVED },
    [EXP_PAPER_N_WIN] = { n_win_of, TIMED | REPLAYED | OBSERVED },
    [EXP_PAPER_N_F] = { n_f_of, TIMED | REPLAYED | OBSERVED },
};

struct row {
    const char *model;
    uint64_t layer_index;
    const char *layer, *algo;
    double value[EXP_PAPER_N_VALUES];
    const char *why_not[EXP_PAPER_N_VALUES]; /* of what is NaN */
};

#define ROW struct row
#define VALUE(v) REC_NAN_OR(ROW, value[EXP_PAPER_##v], why_not[EXP_PAPER_##v])

/* clang-format off */
static const struct rec_field fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(ROW, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(ROW, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(ROW, layer) },
    { EXP_COLUMN_ALGO, REC_AT(ROW, algo) },
    { { "time_ns", "ns", "mean of the fastest quarter of the rounds", "clock" }, VALUE(TIME) },
    { { "spread_percent", "%", "standard deviation of the rounds, of their mean", "clock" }, VALUE(SPREAD) },
    { { "rounds", "", "timed rounds", "" }, VALUE(ROUNDS) },
    { { "packing_ns", "ns", "of a run step by step: im2col and packing", "clock" }, VALUE(PACKING) },
    { { "kernel_ns", "ns", "of that run: micro-kernels", "clock" }, VALUE(KERNEL) },
    { { "steps_ns", "ns", "all of that run", "clock" }, VALUE(STEPS) },
    { { "cycles", "cycles", "recorded by a real computer's counters", "perf_event" }, VALUE(CYCLES) },
    { { "loads", "loads", "load instructions; of a layer observed in part, scaled up", "replay or observation" },
      VALUE(LOADS) },
    { { "l1_load_misses", "loads", "not served by L1, on the machine as its file has it", "replay or observation" },
      VALUE(MISSES_1) },
    { { "l2_load_misses", "loads", "nor by L2", "replay or observation" }, VALUE(MISSES_2) },
    { { "l3_load_misses", "loads", "served by memory", "replay or observation" }, VALUE(MISSES_3) },
    { { "alone_loads", "loads", "load instructions, the machine's caches alone", "replay" }, VALUE(ALONE_LOADS) },
    { { "alone_l1_load_misses", "loads", "not served by L1, caches alone: no prefetcher, no TLB", "replay" },
      VALUE(ALONE_MISSES_1) },
    { { "alone_l2_load_misses", "loads", "nor by L2, likewise", "replay" }, VALUE(ALONE_MISSES_2) },
    { { "alone_l3_load_misses", "loads", "served by memory, likewise", "replay" }, VALUE(ALONE_MISSES_3) },
    { { "issue_cycles", "cycles", "estimate: all loads hit L1", "replay" }, VALUE(ISSUE_CYCLES) },
    { { "waiting_cycles", "cycles", "estimate: every miss waits", "replay" }, VALUE(WAITING_CYCLES) },
    { { "packing_cycles", "cycles", "of those: im2col and packing", "replay" }, VALUE(PACKING_CYCLES) },
    { { "peak", "", "multiply-adds per ns (timed) or per cycle (replayed) that the core does at most", "" },
      VALUE(PEAK) },
    { { "chosen", "", "1 for a schedule of SConv's that CSA chose", "predicted" }, VALUE(CHOSEN) },
    { { "is_ws", "", "1: weight stationary, 0: input stationary", "predicted" }, VALUE(IS_WS) },
    { { "n_win", "windows", "Nwin of the micro-kernel", "" }, VALUE(N_WIN) },
    { { "n_f", "filters", "Nf of the micro-kernel", "" }, VALUE(N_F) },
};
/* clang-format on */

const struct rec_table exp_paper_cases_table = REC_TABLE("cases.csv", fields, ROW);

/* ---- rows ---- */

void exp_paper_part_release(struct exp_paper_part *p)
{
    free(p->row);
    *p = (struct exp_paper_part){ 0 };
}

struct exp_paper_row *exp_paper_part_add(struct exp_paper_part *p, size_t model, const struct exp_layer *layer,
                                         const struct exp_algo *algo)
{
    struct exp_paper_row *row = realloc(p->row, (p->n_rows + 1) * sizeof *row);

    if (!row)
        return NULL;
    p->row = row;
    row += p->n_rows++;
    *row = (struct exp_paper_row){ .model = model, .layer = layer, .algo = algo };
    for (int v = 0; v < EXP_PAPER_N_VALUES; v++)
        row->value[v] = (double)NAN;
    return row;
}

void exp_paper_part_lacks(struct exp_paper_part *p, enum exp_paper_value value, const char *why)
{
    if (!*p->why_no_value[value])
        exp_say(p->why_no_value[value], sizeof p->why_no_value[value], "%s", why);
}

/* ---- writing ---- */

static void fill_value(ROW *row, const struct exp_paper_source *s, const struct exp_case *c, enum exp_paper_value v)
{
    const char *why = NULL;
    double x;

    row->value[v] = (double)NAN;
    row->why_not[v] = REC_DOES_NOT_APPLY;
    if (!values[v].of || !(values[v].kinds >> s->kind & 1))
        return;
    x = values[v].of(s, c, &why);
    row->value[v] = why ? (double)NAN : x;
    row->why_not[v] = why ? why : "it is no number";
}

int exp_paper_cases_write(const struct exp_paper_source *s, const struct exp_outdir *dir, const char *about,
                          struct exp_why *why)
{
    const struct exp_experiment *e = s->e;
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_paper_cases_table.file, about, why);

    for (size_t i = 0; i < e->n_cases && !err; i++) {
        const struct exp_case *c = &e->cases[i];
        ROW row = {
            .model = e->model->name, .layer_index = c->layer->index, .layer = c->layer->name, .algo = c->algo->name
        };

        for (int v = 1; v < EXP_PAPER_N_VALUES; v++)
            fill_value(&row, s, c, (enum exp_paper_value)v);
        rec_put(csv, &exp_paper_cases_table, &row);
    }
    return err ? err : exp_csv_close(csv, why);
}

/* ---- reading ---- */

static const struct exp_layer *layer_of(const struct exp_model *m, uint64_t index)
{
    for (size_t l = 0; l < m->n_layers; l++) {
        if (m->layer[l].index == index)
            return &m->layer[l];
    }
    return NULL;
}

static int take_row(struct exp_paper_part *p, const struct rec_rows *rows, size_t r, const struct exp_model *model,
                    size_t index, struct exp_why *why)
{
    const ROW *from = (const ROW *)rows->row + r;
    const struct exp_algo *algo = exp_algo_find(from->algo);
    const struct exp_layer *layer = layer_of(model, from->layer_index);
    struct exp_paper_row *row;

    if (!layer || !algo)
        return exp_fail(why, -EINVAL, "%s:%u: no such %s: remove the folder", rows->table.path, rows->table.line[r],
                        layer ? "algorithm" : "layer");
    row = exp_paper_part_add(p, index, layer, algo);
    if (!row)
        return exp_fail(why, -ENOMEM, "out of memory");
    for (int v = 1; v < EXP_PAPER_N_VALUES; v++) {
        row->value[v] = from->value[v];
        if (from->why_not[v] && strcmp(from->why_not[v], REC_DOES_NOT_APPLY) != 0)
            exp_paper_part_lacks(p, (enum exp_paper_value)v, from->why_not[v]);
    }
    return 0;
}

int exp_paper_cases_read(struct exp_paper_part *p, const char *folder, const struct exp_model *model, size_t index,
                         struct exp_why *why)
{
    char *path = exp_format("%s/%s", folder, exp_paper_cases_table.file.name);
    struct rec_rows rows = { 0 };
    int err = path ? rec_read(&rows, &exp_paper_cases_table, path, why) : exp_fail(why, -ENOMEM, "out of memory");

    for (size_t r = 0; r < rows.n && !err; r++)
        err = take_row(p, &rows, r, model, index, why);
    rec_release(&rows);
    free(path);
    return err;
}
