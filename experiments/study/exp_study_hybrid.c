#include "experiments/study/exp_study_hybrid.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/record/record.h"
#include "experiments/study/exp_study_micro.h"

/* ---- the better of both ---- */

static enum csa_schedule schedule_of(const struct exp_study_source *s, size_t point)
{
    const struct exp_study_view *view = s->view[point];
    const double cycles[CSA_N_SCHEDULES] = { view[CSA_IS].csa2_cycles, view[CSA_WS].csa2_cycles };

    return csa2_choose_schedule(cycles, &s->model, s->times.point[point].state);
}

static double predict_base(const struct exp_study_source *s, const struct exp_study_base *b,
                           const struct exp_study_point *p)
{
    double amount[EXP_STUDY_N_BASE_TERMS];

    exp_study_base_count(s, &s->model, &p->layer->problem, p->state, amount);
    return exp_study_base_cycles(b, amount);
}

static bool has_both(const struct exp_study_point *p)
{
    return exp_study_has_schedules(p) && !isnan(p->time[exp_study_algo("base")].cycles);
}

static bool belongs(const struct exp_study_point *p, enum csa2_state state, enum exp_study_part part)
{
    return p->state == state && has_both(p) &&
           (part == EXP_STUDY_ALL || p->is_training == (part == EXP_STUDY_TRAINING));
}

/* A layer, timed and predicted: Base and SConv as csa2 schedules it. */
struct match {
    const struct exp_study_point *point;
    double base, sconv, other_base, other_sconv, predicted_base, predicted_sconv;
};

static struct match match_of(const struct exp_study_source *s, const struct exp_study_base *b, size_t i)
{
    const struct exp_study_point *p = &s->times.point[i];
    const struct exp_study_time *base = &p->time[exp_study_algo("base")];
    enum csa_schedule schedule = schedule_of(s, i);
    const struct exp_study_time *sconv = exp_study_schedule_time(p, schedule);

    return (struct match){ p,
                           base->cycles,
                           sconv->cycles,
                           base->other_cycles,
                           sconv->other_cycles,
                           predict_base(s, b, p),
                           s->view[i][schedule].csa2_cycles };
}

static double chosen(const struct match *m, bool takes_sconv)
{
    return takes_sconv ? m->sconv : m->base;
}

static double loss(const struct match *m)
{
    return chosen(m, m->predicted_sconv < m->predicted_base) - fmin(m->sconv, m->base);
}

static bool is_same_shape(const struct match *a, const struct match *b)
{
    return conv_problem_equal(&a->point->layer->problem, &b->point->layer->problem);
}

/* Tells whether SConv is the faster one in the median layer of this shape. */
static bool wins_by_shape(const struct match *all, size_t n, const struct match *m, double *scratch)
{
    size_t n_same = 0;

    for (size_t i = 0; i < n; i++) {
        if (is_same_shape(&all[i], m))
            scratch[n_same++] = all[i].sconv / all[i].base;
    }
    return exp_spread_of(scratch, n_same).median < 1;
}

static void find_worst(struct exp_study_hybrid *h, const struct match *all)
{
    double most = 0;

    for (size_t k = 0; k < h->n; k++) {
        double sum = 0;
        size_t n = 0;

        for (size_t i = 0; i < h->n; i++) {
            sum += is_same_shape(&all[i], &all[k]) ? loss(&all[i]) : 0;
            n += is_same_shape(&all[i], &all[k]);
        }
        if (sum > most) {
            most = sum;
            h->worst = all[k].point->layer;
            h->n_worst = n;
            h->worst_share = sum / (h->chosen - h->best);
        }
    }
}

static void sum_up(struct exp_study_hybrid *h, const struct match *all, double *scratch)
{
    for (size_t i = 0; i < h->n; i++) {
        const struct match *m = &all[i];
        bool takes_sconv = m->predicted_sconv < m->predicted_base;

        h->n_sconv += takes_sconv;
        h->n_right += takes_sconv == (m->sconv < m->base);
        h->base += m->base;
        h->sconv += m->sconv;
        h->chosen += chosen(m, takes_sconv);
        h->best += fmin(m->sconv, m->base);
        h->by_shape += chosen(m, wins_by_shape(all, h->n, m, scratch));
        h->by_other += chosen(m, m->other_sconv < m->other_base);
    }
    for (size_t i = 0; i < h->n; i++)
        scratch[i] = all[i].predicted_base / all[i].base;
    h->base_spread = exp_spread_of(scratch, h->n);
    find_worst(h, all);
}

struct exp_study_hybrid exp_study_hybrid_of(const struct exp_study_source *s, const struct exp_study_base *b,
                                            enum csa2_state state, enum exp_study_part part)
{
    struct exp_study_hybrid h = { 0 };
    struct match *match = malloc((s->times.n + 1) * sizeof *match);
    double *scratch = malloc((s->times.n + 1) * sizeof *scratch);

    for (size_t i = 0; i < s->times.n && match; i++) {
        if (belongs(&s->times.point[i], state, part))
            match[h.n++] = match_of(s, b, i);
    }
    if (match && scratch)
        sum_up(&h, match, scratch);
    else
        h.n = 0;
    free(match);
    free(scratch);
    return h;
}

/* ---- faster micro-kernels ---- */

static void add_sconv(struct exp_study_rate *r, const struct csa2_machine *m, const struct exp_study_point *p,
                      enum csa_schedule schedule)
{
    struct csa_tiling t = exp_study_schedule_tiling(p, schedule);
    struct csa2_work work = csa2_count(&p->layer->problem, &t, exp_study_schedule_time(p, schedule)->ukr, m, p->state);

    r->sconv += csa2_cycles(&work, m);
    r->sconv_packing += work.amount[CSA2_PIECES] * m->cycles_of[CSA2_PIECES] +
                        work.amount[CSA2_STRIDED] * m->cycles_of[CSA2_STRIDED] +
                        work.amount[CSA2_PANEL_LINES] * m->cycles_of[CSA2_PANEL_LINES];
}

static void add_base(struct exp_study_rate *r, const struct exp_study_base *b, const double *amount)
{
    r->base += exp_study_base_cycles(b, amount);
    r->base_packing += amount[EXP_STUDY_BASE_LOWERED] * b->cost[EXP_STUDY_BASE_LOWERED] +
                       amount[EXP_STUDY_BASE_PACKED] * b->cost[EXP_STUDY_BASE_PACKED] +
                       amount[EXP_STUDY_BASE_L3_LINES] * b->cost[EXP_STUDY_BASE_L3_LINES];
}

struct exp_study_rate exp_study_rate_of(const struct exp_study_source *s, const struct exp_study_base *b,
                                        double macs_per_cycle)
{
    struct exp_study_rate r = { .macs_per_cycle = macs_per_cycle };
    struct csa2_machine m = s->model;

    m.slots_per_cycle = macs_per_cycle / exp_study_lanes(s);
    for (size_t i = 0; i < s->times.n; i++) {
        const struct exp_study_point *p = &s->times.point[i];
        double amount[EXP_STUDY_N_BASE_TERMS];

        if (!belongs(p, CSA2_COLD, EXP_STUDY_ALL))
            continue;
        exp_study_base_count(s, &m, &p->layer->problem, p->state, amount);
        add_base(&r, b, amount);
        add_sconv(&r, &m, p, schedule_of(s, i));
    }
    return r;
}

/* ---- files ---- */

struct hybrid_row {
    const char *machine, *caches, *part;
    struct exp_study_hybrid h;
};

#define HYBRID struct hybrid_row

static const struct rec_field hybrid_columns[] = {
    { { "machine", "", "whose times", "" }, REC_AT(HYBRID, machine) },
    { { "caches", "", "cold or warm", "" }, REC_AT(HYBRID, caches) },
    { { "part", "", "layers: all; training, which the models were fitted to; others", "" }, REC_AT(HYBRID, part) },
    { { "layers", "", "where Base and both schedules were timed", "" }, REC_AT(HYBRID, h.n) },
    { { "chosen_sconv", "", "layers for which SConv is predicted to be faster", "predicted" },
      REC_AT(HYBRID, h.n_sconv) },
    { { "right", "", "layers where the faster one was chosen", "clock" }, REC_AT(HYBRID, h.n_right) },
    { { "base_cycles", "cycles", "Base in all of them", "clock" }, REC_AT(HYBRID, h.base) },
    { { "sconv_cycles", "cycles", "SConv in the schedule that csa2 chooses", "clock" }, REC_AT(HYBRID, h.sconv) },
    { { "chosen_cycles", "cycles", "the one that is predicted to be faster", "clock" }, REC_AT(HYBRID, h.chosen) },
    { { "best_cycles", "cycles", "the faster one of the two: the oracle", "clock" }, REC_AT(HYBRID, h.best) },
    { { "same_shape_cycles", "cycles",
        "the one that is faster in the median layer of the same shape: what a function of the shape could know",
        "clock" },
      REC_AT(HYBRID, h.by_shape) },
    { { "second_measure_cycles", "cycles", "the one that is faster by the recording's second measure", "clock" },
      REC_AT(HYBRID, h.by_other) },
    { { "base_p10", "", "Base's predicted / measured cycles: quantile", "" },
      REC_NAN_AS(HYBRID, h.base_spread.p10, "out of memory") },
    { { "base_median", "", "the same", "" }, REC_NAN_AS(HYBRID, h.base_spread.median, "out of memory") },
    { { "base_p90", "", "the same", "" }, REC_NAN_AS(HYBRID, h.base_spread.p90, "out of memory") },
};

const struct rec_table exp_study_hybrid_table = REC_TABLE("hybrid.csv", hybrid_columns, HYBRID);

struct rate_row {
    const char *machine, *what;
    struct exp_study_rate r;
    double base_packing_percent, sconv_packing_percent, speedup;
};

#define RATE struct rate_row

static const struct rec_field rate_columns[] = {
    { { "machine", "", "whose other costs", "" }, REC_AT(RATE, machine) },
    { { "macs_per_cycle", "", "multiply-adds of the micro-kernel", "" }, REC_AT(RATE, r.macs_per_cycle) },
    { { "what", "", "what has about so many, in single precision if it does not say otherwise", "" },
      REC_AT(RATE, what) },
    { { "base_cycles", "cycles", "all layers, cold", "predicted" }, REC_AT(RATE, r.base) },
    { { "sconv_cycles", "cycles", "the same, in the schedule that csa2 chooses", "predicted" }, REC_AT(RATE, r.sconv) },
    { { "base_packing_percent", "%", "of Base: im2col and packing", "predicted" }, REC_AT(RATE, base_packing_percent) },
    { { "sconv_packing_percent", "%", "of SConv: packing", "predicted" }, REC_AT(RATE, sconv_packing_percent) },
    { { "speedup", "", "Base / SConv", "predicted" }, REC_AT(RATE, speedup) },
};

const struct rec_table exp_study_rates_table = REC_TABLE("rates.csv", rate_columns, RATE);

static void put_hybrid(struct exp_csv *csv, const struct exp_study_source *s, const struct exp_study_base *b,
                       enum csa2_state state, enum exp_study_part part)
{
    struct exp_study_hybrid h = exp_study_hybrid_of(s, b, state, part);

    if (!h.n)
        return;
    const struct hybrid_row row = {
        .machine = s->name,
        .caches = exp_study_state_names[state],
        .part = exp_study_part_name(part),
        .h = h,
    };

    rec_put(csv, &exp_study_hybrid_table, &row);
}

static void put_rate(struct exp_csv *csv, const struct exp_study_source *s, const struct exp_study_base *b,
                     const struct exp_study_rate_record *rate)
{
    struct exp_study_rate r = exp_study_rate_of(s, b, exp_study_rate_macs(rate));

    if (!(r.base > 0) || !(r.sconv > 0))
        return;
    const struct rate_row row = {
        .machine = s->name,
        .r = r,
        .what = rate->what,
        .base_packing_percent = 100 * r.base_packing / r.base,
        .sconv_packing_percent = 100 * r.sconv_packing / r.sconv,
        .speedup = r.base / r.sconv,
    };

    rec_put(csv, &exp_study_rates_table, &row);
}

int exp_study_hybrid_write(const struct exp_study_source *source, const struct exp_study_base *base, size_t n,
                           const struct exp_outdir *dir, const char *what, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_study_hybrid_table.file, what, why);

    for (size_t k = 0; k < n * 2 * EXP_STUDY_N_PARTS && !err; k++)
        put_hybrid(csv, &source[k / 2 / EXP_STUDY_N_PARTS], &base[k / 2 / EXP_STUDY_N_PARTS],
                   (enum csa2_state)(k / EXP_STUDY_N_PARTS % 2), (enum exp_study_part)(k % EXP_STUDY_N_PARTS));
    if (!err)
        err = exp_csv_close(csv, why);
    if (!err)
        err = exp_csv_create(&csv, dir, &exp_study_rates_table.file, what, why);
    for (size_t k = 0; k < n * EXP_STUDY_N_RATES && !err; k++)
        put_rate(csv, &source[k / EXP_STUDY_N_RATES], &base[k / EXP_STUDY_N_RATES],
                 &exp_study_rates[k % EXP_STUDY_N_RATES]);
    return err ? err : exp_csv_close(csv, why);
}

void exp_study_hybrid_document(FILE *out)
{
    exp_csv_document(&exp_study_hybrid_table.file, out);
    exp_csv_document(&exp_study_rates_table.file, out);
}

/* ---- the page ---- */

static void print_hybrid(const struct exp_study_source *s, const struct exp_study_base *b, enum csa2_state state,
                         enum exp_study_part part, FILE *out)
{
    struct exp_study_hybrid h = exp_study_hybrid_of(s, b, state, part);

    if (h.n)
        fprintf(out, "| %s, %s | %s | %zu | %zu | %zu | %.1f %% | %.1f %% | %.1f %% | %.2f, %.2f, %.2f |\n", s->name,
                exp_study_state_names[state], exp_study_part_name(part), h.n, h.n_sconv, h.n_right,
                100 * h.best / h.base, 100 * h.best / h.sconv, 100 * h.best / h.chosen, h.base_spread.p10,
                h.base_spread.median, h.base_spread.p90);
}

static void print_rates(const struct exp_study_source *s, const struct exp_study_base *b, FILE *out)
{
    for (size_t i = 0; i < EXP_STUDY_N_RATES; i++) {
        struct exp_study_rate r = exp_study_rate_of(s, b, exp_study_rate_macs(&exp_study_rates[i]));

        if (r.base > 0)
            fprintf(out, "| %s | %.0f | %s | %.0f %% | %.0f %% | %.2f |\n", s->name, r.macs_per_cycle,
                    exp_study_rates[i].what, 100 * r.base_packing / r.base, 100 * r.sconv_packing / r.sconv,
                    r.base / r.sconv);
    }
}

void exp_study_hybrid_print(const struct exp_study_source *source, const struct exp_study_base *base, size_t n,
                            FILE *out)
{
    fprintf(out,
            "| times | layers | n | SConv predicted | right | speed of the oracle: always Base | always SConv | by "
            "prediction | Base, predicted / measured: p10, median, p90 |\n"
            "|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t k = 0; k < n * 2; k++) {
        print_hybrid(&source[k / 2], &base[k / 2], (enum csa2_state)(k % 2), EXP_STUDY_TRAINING, out);
        print_hybrid(&source[k / 2], &base[k / 2], (enum csa2_state)(k % 2), EXP_STUDY_OTHERS, out);
    }
    fprintf(out,
            "\nA faster micro-kernel, nothing else: csa2's costs of the recorded machines, with the multiply-adds "
            "scaled; all layers, cold.\n\n| costs of | multiply-adds per "
            "cycle | such as | packing, of Base | packing, of SConv | Base / SConv |\n|---|---:|---|---:|---:|---:|\n");
    for (size_t k = 0; k < n; k++)
        print_rates(&source[k], &base[k], out);
}
