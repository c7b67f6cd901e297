#include "experiments/study/exp_study_base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/replay/exp_replay.h"
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_model.h"
#include "kernels/blas/gemm_core.h"
#include "sim/analysis/estimate.h"

/* ---- the model ---- */

/* Blocks of the reduction where the machine's OpenBLAS core is not on record. */
static const double usual_block = 384;

static double block_of(const struct exp_study_source *s)
{
    const struct conv_gemm_core *core = conv_gemm_core_find(s->machine.gemm_core);

    return core ? (double)core->q : usual_block;
}

/* Returns the floats of a machine's vectors. */
static double lanes(const struct exp_study_source *s)
{
    return s->machine.issue.mac_columns > 0 ? (double)s->machine.issue.mac_columns : 1;
}

/* Counts Base's work on a layer of a source, for a micro-kernel of m's speed; amount[EXP_STUDY_N_BASE_TERMS]. */
static void base_count(const struct exp_study_source *s, const struct csa2_machine *m, const struct conv_problem *p,
                       enum csa2_state state, double *amount)
{
    const double element = sizeof(float), line = m->line_bytes, times = (double)(p->n * p->groups);
    double windows = (double)conv_windows(p), reduction = (double)conv_reduction(p);
    double filters = (double)conv_group_filters(p), matrix = windows * reduction;
    double lowered = conv_is_pointwise(p) ? 0 : matrix;
    double input = (double)(conv_group_channels(p) * p->h * p->w);
    double tensors = input + filters * reduction + filters * windows;
    double all_bytes = (tensors + lowered) * element;
    double far = state == CSA2_COLD ? 1 : csa2_share_beyond(all_bytes, m->l3_bytes);
    double beyond_l2 = csa2_share_beyond(matrix * element, m->l2_bytes);
    double beyond_l3 = csa2_share_beyond(matrix * element, m->l3_bytes);
    double near = state == CSA2_COLD ? 0 : csa2_share_beyond(all_bytes, m->l2_bytes) - far;

    amount[EXP_STUDY_BASE_ISSUE] = times * matrix * filters / lanes(s) / m->slots_per_cycle;
    amount[EXP_STUDY_BASE_LOWERED] = times * lowered;
    amount[EXP_STUDY_BASE_PACKED] = times * (matrix + filters * reduction);
    amount[EXP_STUDY_BASE_OUTPUT] = times * windows * filters * ceil(reduction / block_of(s));
    amount[EXP_STUDY_BASE_L3_LINES] =
        times * element / line * (2 * lowered * (beyond_l2 - beyond_l3) + tensors * fmax(0, near));
    amount[EXP_STUDY_BASE_MEMORY_LINES] =
        times * element / line * (tensors * far + lowered * (far * (1 - beyond_l3) + 2 * beyond_l3));
    amount[EXP_STUDY_BASE_GROUPS] = times;
}

static double base_cycles(const struct exp_study_base *b, const double *amount)
{
    double sum = 0;

    for (size_t i = 0; i < EXP_STUDY_N_BASE_TERMS; i++)
        sum += amount[i] * b->cost[i];
    return sum;
}

int exp_study_base_fit(struct exp_study_base *b, const struct exp_study_source *s, struct exp_why *why)
{
    struct exp_study_sample *sample = calloc(s->times.n + 1, sizeof *sample);
    size_t n = 0, base = exp_study_algo("base");

    if (!sample)
        return exp_fail(why, -ENOMEM, "out of memory for the fit");
    for (size_t i = 0; i < s->times.n; i++) {
        const struct exp_study_point *p = &s->times.point[i];

        if (!p->is_training || isnan(p->time[base].cycles))
            continue;
        base_count(s, &s->model, &p->layer->problem, p->state, sample[n].amount);
        sample[n].cycles = p->time[base].cycles;
        sample[n++].weight = p->weight;
    }
    exp_study_fit(sample, n, EXP_STUDY_N_BASE_TERMS, b->cost);
    free(sample);
    return 0;
}

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

    base_count(s, &s->model, &p->layer->problem, p->state, amount);
    return base_cycles(b, amount);
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

/* ---- faster micro-kernels, predicted ---- */

const struct exp_study_rate_record exp_study_rates[EXP_STUDY_N_RATES] = {
#define RATE(what_, rows, columns, per_cycle, ukr_, core_)                                                             \
    { what_, { .mac_rows = rows, .mac_columns = columns, .mac_instructions_per_cycle = per_cycle }, ukr_, core_ },
#include "experiments/study/rates.def"
#undef RATE
};

static double rate_macs(const struct exp_study_rate_record *r)
{
    return r->issue.mac_rows * r->issue.mac_columns * r->issue.mac_instructions_per_cycle;
}

static void finish(struct exp_study_both *c)
{
    c->base_packing_percent = 100 * c->base_packing / c->base;
    c->sconv_packing_percent = 100 * c->sconv_packing / c->sconv;
    c->speedup = c->base / c->sconv;
}

static void add_sconv(struct exp_study_both *r, const struct csa2_machine *m, const struct exp_study_point *p,
                      enum csa_schedule schedule)
{
    struct csa_tiling t = exp_study_schedule_tiling(p, schedule);
    struct csa2_work work = csa2_count(&p->layer->problem, &t, exp_study_schedule_time(p, schedule)->ukr, m, p->state);

    r->sconv += csa2_cycles(&work, m);
    r->sconv_packing += work.amount[CSA2_PIECES] * m->cycles_of[CSA2_PIECES] +
                        work.amount[CSA2_STRIDED] * m->cycles_of[CSA2_STRIDED] +
                        work.amount[CSA2_PANEL_LINES] * m->cycles_of[CSA2_PANEL_LINES];
}

static void add_base(struct exp_study_both *r, const struct exp_study_base *b, const double *amount)
{
    r->base += base_cycles(b, amount);
    r->base_packing += amount[EXP_STUDY_BASE_LOWERED] * b->cost[EXP_STUDY_BASE_LOWERED] +
                       amount[EXP_STUDY_BASE_PACKED] * b->cost[EXP_STUDY_BASE_PACKED] +
                       amount[EXP_STUDY_BASE_L3_LINES] * b->cost[EXP_STUDY_BASE_L3_LINES];
}

/* Predicts the cycles of all layers, cold, with a micro-kernel that does so many multiply-adds per cycle. */
static struct exp_study_both rate_of(const struct exp_study_source *s, const struct exp_study_base *b,
                                     double macs_per_cycle)
{
    struct exp_study_both r = { 0 };
    struct csa2_machine m = s->model;

    m.slots_per_cycle = macs_per_cycle / lanes(s);
    for (size_t i = 0; i < s->times.n; i++) {
        const struct exp_study_point *p = &s->times.point[i];
        double amount[EXP_STUDY_N_BASE_TERMS];

        if (!belongs(p, CSA2_COLD, EXP_STUDY_ALL))
            continue;
        base_count(s, &m, &p->layer->problem, p->state, amount);
        add_base(&r, b, amount);
        add_sconv(&r, &m, p, schedule_of(s, i));
    }
    finish(&r);
    return r;
}

/* ---- faster micro-kernels, replayed ---- */

static double issue_cycles(const struct sim_issue *i, const struct sim_cell *phase, bool is_ukr, uint64_t instructions)
{
    if (is_ukr)
        return (double)instructions / i->mac_instructions_per_cycle;
    return fmax((double)phase->loads / i->loads_per_cycle, (double)phase->stores / i->stores_per_cycle);
}

static void add_case(struct exp_study_micro *micro, const struct sim_machine *m, const struct exp_case *c)
{
    bool is_base = c->algo == exp_algo_base();

    for (unsigned p = 0; p < CONV_N_PHASES; p++) {
        struct sim_cell phase = sim_stats_phase(&c->simulated.stats, p);
        bool packs = p == CONV_PHASE_IM2COL || p == CONV_PHASE_PACK;
        struct sim_estimate memory;

        sim_estimate(&memory, m, &phase);
        for (unsigned i = 0; i < EXP_STUDY_N_MISSES; i++) {
            struct exp_study_both *to = &micro->cycles[i];
            double cycles = issue_cycles(&m->issue, &phase, p == CONV_PHASE_UKR, c->simulated.mac_instructions) +
                            (i == EXP_STUDY_WAIT ? memory.sconv_eq6_cycles : 0);

            *(is_base ? &to->base : &to->sconv) += cycles;
            *(is_base ? &to->base_packing : &to->sconv_packing) += packs ? cycles : 0;
        }
    }
}

static void sum_up_rate(struct exp_study_micro *micro, const struct exp_experiment *e, const struct sim_issue *speed)
{
    struct sim_machine m = e->setup->machine;

    *micro = (struct exp_study_micro){ .n = e->model->n_layers };
    m.issue.mac_instructions_per_cycle = speed->mac_instructions_per_cycle;
    for (size_t i = 0; i < e->n_cases; i++) {
        if (e->cases[i].algo == exp_algo_base() || e->cases[i].is_chosen)
            add_case(micro, &m, &e->cases[i]);
    }
    for (unsigned i = 0; i < EXP_STUDY_N_MISSES; i++)
        finish(&micro->cycles[i]);
}

static bool is_replayed_alike(const struct exp_study_rate_record *a, const struct exp_study_rate_record *b)
{
    return a->issue.mac_rows == b->issue.mac_rows && a->issue.mac_columns == b->issue.mac_columns &&
           !strcmp(a->ukr, b->ukr) && !strcmp(a->core, b->core);
}

static int replay(struct exp_experiment *e, unsigned n_threads, struct exp_why *why)
{
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_progress *progress = NULL;
    int err;

    for (size_t l = 0; l < e->model->n_layers; l++)
        seconds[EXP_WORK_REPLAY] += exp_replay_seconds(e, EXP_COLD, n_threads, l);
    err = exp_main_progress(&progress, seconds, why);
    if (!err)
        err = exp_replay_all(e, EXP_COLD, n_threads, progress, why);
    exp_progress_free(progress);
    return err;
}

/* Replays the first of `left` records, and sums up those that are replayed alike. Returns how many, or -errno. */
static int replay_rate(struct exp_study_micro *micro, const struct exp_study_rate_record *first, size_t left,
                       const struct sim_machine *m, const struct exp_model *model, unsigned n_threads,
                       struct exp_why *why)
{
    struct exp_setup setup = { .machine = sim_machine_caches_alone(m) };
    struct exp_experiment e = { 0 };
    unsigned algos;
    int n = 0, err = exp_algo_select("base,sconv", &algos, why);

    setup.machine.has_stack = false;
    setup.machine.issue.mac_rows = first->issue.mac_rows;
    setup.machine.issue.mac_columns = first->issue.mac_columns;
    if (!err)
        err = exp_setup_init(&setup, first->ukr, first->core, why);
    if (!err)
        err = exp_experiment_plan(&e, &setup, model, algos, why);
    if (!err)
        err = replay(&e, n_threads, why);
    for (; !err && (size_t)n < left && is_replayed_alike(first, &first[n]); n++)
        sum_up_rate(&micro[n], &e, &first[n].issue);
    exp_experiment_release(&e);
    exp_setup_release(&setup);
    return err ? err : n;
}

int exp_study_micro_replay(struct exp_study_micro micro[EXP_STUDY_N_RATES], const struct exp_study_runs *sample,
                           const struct sim_machine *m, unsigned n_threads, struct exp_why *why)
{
    struct exp_layer *layer = calloc(sample->n_layers + 1, sizeof *layer);
    char name[] = "sample";
    struct exp_model model = { .name = name, .path = name, .layer = layer, .n_layers = sample->n_layers };
    size_t n = 0;
    int done = layer ? 0 : exp_fail(why, -ENOMEM, "out of memory for the sample");

    for (size_t i = 0; i < sample->n_layers && layer; i++)
        layer[i] = *sample->layer[i].layer;
    while (n < EXP_STUDY_N_RATES && done >= 0) {
        done = replay_rate(&micro[n], &exp_study_rates[n], EXP_STUDY_N_RATES - n, m, &model, n_threads, why);
        n += done > 0 ? (size_t)done : 0;
    }
    free(layer);
    return done < 0 ? done : 0;
}

/* ---- files ---- */

struct hybrid_row {
    const char *machine, *caches, *part;
    struct exp_study_hybrid h;
};

#define AT(member) REC_AT(struct hybrid_row, h.member)
#define SPREAD(member) REC_NAN_AS(struct hybrid_row, h.base_spread.member, "out of memory")

static const struct rec_field hybrid_fields[] = {
    { { "machine", "", "whose times", "" }, REC_AT(struct hybrid_row, machine) },
    { { "caches", "", "cold or warm", "" }, REC_AT(struct hybrid_row, caches) },
    { { "part", "", "layers: all; training, which the models were fitted to; others", "" },
      REC_AT(struct hybrid_row, part) },
    { { "layers", "", "where Base and both schedules were timed", "" }, AT(n) },
    { { "chosen_sconv", "", "layers for which SConv is predicted to be faster", "predicted" }, AT(n_sconv) },
    { { "right", "", "layers where the faster one was chosen", "clock" }, AT(n_right) },
    { { "base_cycles", "cycles", "Base in all of them", "clock" }, AT(base) },
    { { "sconv_cycles", "cycles", "SConv in the schedule that csa2 chooses", "clock" }, AT(sconv) },
    { { "chosen_cycles", "cycles", "the one that is predicted to be faster", "clock" }, AT(chosen) },
    { { "best_cycles", "cycles", "the faster one of the two: the oracle", "clock" }, AT(best) },
    { { "same_shape_cycles", "cycles",
        "the one that is faster in the median layer of the same shape: what a function of the shape could know",
        "clock" },
      AT(by_shape) },
    { { "second_measure_cycles", "cycles", "the one that is faster by the recording's second measure", "clock" },
      AT(by_other) },
    { { "base_p10", "", "Base's predicted / measured cycles: quantile", "" }, SPREAD(p10) },
    { { "base_median", "", "the same", "" }, SPREAD(median) },
    { { "base_p90", "", "the same", "" }, SPREAD(p90) },
};

#undef AT

/* A row of rates.csv, predicted, and of micro_kernels.csv, replayed. */
struct rate_row {
    const char *machine, *misses;
    struct exp_study_rate_record rate;
    double macs_per_cycle;
    size_t n;
    struct exp_study_both both;
};

#define AT(member) REC_AT(struct rate_row, member)
#define BOTH(base_is, sconv_is, source)                                                                                \
    { { "base_cycles", "cycles", base_is, source }, AT(both.base) },                                                   \
        { { "sconv_cycles", "cycles", sconv_is, source }, AT(both.sconv) },                                            \
        { { "base_packing_percent", "%", "of Base: im2col and packing", source }, AT(both.base_packing_percent) },     \
        { { "sconv_packing_percent", "%", "of SConv: packing", source }, AT(both.sconv_packing_percent) },             \
    {                                                                                                                  \
        { "speedup", "", "Base / SConv", source }, AT(both.speedup)                                                    \
    }

static const struct rec_field rate_fields[] = {
    { { "machine", "", "whose other costs", "" }, AT(machine) },
    { { "macs_per_cycle", "", "multiply-adds of the micro-kernel", "" }, AT(macs_per_cycle) },
    { { "what", "", "what has about so many, in single precision if it does not say otherwise", "" }, AT(rate.what) },
    BOTH("all layers, cold", "the same, in the schedule that csa2 chooses", "predicted"),
};

static const struct rec_field micro_fields[] = {
    { { "machine", "", "whose caches, alone; cold", "" }, AT(machine) },
    { { "what", "", "what has about such a micro-kernel: experiments/study/rates.def", "" }, AT(rate.what) },
    { { "mac_rows", "", "rows of a multiply-add instruction's outer product", "" }, AT(rate.issue.mac_rows) },
    { { "mac_columns", "", "its columns", "" }, AT(rate.issue.mac_columns) },
    { { "mac_instructions_per_cycle", "", "so many at once", "" }, AT(rate.issue.mac_instructions_per_cycle) },
    { { "macs_per_cycle", "", "the product of the three", "" }, AT(macs_per_cycle) },
    { { "ukr", "", "SConv's micro-kernel, whose tiles and accesses are replayed", "" }, AT(rate.ukr) },
    { { "core", "", "OpenBLAS's core for Base", "" }, AT(rate.core) },
    { { "layers", "", "of the sample", "" }, AT(n) },
    { { "misses", "", "what loads do that miss L1: hit all the same, or wait for their latency", "" }, AT(misses) },
    BOTH("instructions at their issue rates, and misses", "the same, in the schedule that CSA chooses", "replay"),
};

const struct rec_table exp_study_hybrid_table = REC_TABLE("hybrid.csv", hybrid_fields, struct hybrid_row);
const struct rec_table exp_study_rates_table = REC_TABLE("rates.csv", rate_fields, struct rate_row);
const struct rec_table exp_study_micro_table = REC_TABLE("micro_kernels.csv", micro_fields, struct rate_row);

static void put_hybrid(struct exp_csv *csv, const struct exp_study_source *s, const struct exp_study_base *b)
{
    for (unsigned i = 0; i < CSA2_N_STATES * EXP_STUDY_N_PARTS; i++) {
        const enum csa2_state state = (enum csa2_state)(i / EXP_STUDY_N_PARTS);
        const enum exp_study_part part = (enum exp_study_part)(i % EXP_STUDY_N_PARTS);
        const struct hybrid_row row = { s->name, exp_study_state_names[state], exp_study_part_name(part),
                                        exp_study_hybrid_of(s, b, state, part) };

        if (row.h.n)
            rec_put(csv, &exp_study_hybrid_table, &row);
    }
}

static void put_rates(struct exp_csv *csv, const struct exp_study_source *s, const struct exp_study_base *b)
{
    for (size_t i = 0; i < EXP_STUDY_N_RATES; i++) {
        const double macs = rate_macs(&exp_study_rates[i]);
        const struct rate_row row = { s->name, "", exp_study_rates[i], macs, 0, rate_of(s, b, macs) };

        if (row.both.base > 0 && row.both.sconv > 0)
            rec_put(csv, &exp_study_rates_table, &row);
    }
}

int exp_study_hybrid_write(const struct exp_study_source *source, const struct exp_study_base *base, size_t n,
                           const struct exp_outdir *dir, const char *what, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_study_hybrid_table.file, what, why);

    for (size_t k = 0; k < n && !err; k++)
        put_hybrid(csv, &source[k], &base[k]);
    err = err ? err : exp_csv_close(csv, why);
    err = err ? err : exp_csv_create(&csv, dir, &exp_study_rates_table.file, what, why);
    for (size_t k = 0; k < n && !err; k++)
        put_rates(csv, &source[k], &base[k]);
    return err ? err : exp_csv_close(csv, why);
}

int exp_study_micro_write(const struct exp_study_micro micro[EXP_STUDY_N_RATES], const char *machine,
                          const struct exp_outdir *dir, const char *what, struct exp_why *why)
{
    static const char *const misses[EXP_STUDY_N_MISSES] = { "hit", "wait" };
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_study_micro_table.file, what, why);

    for (size_t i = 0; i < EXP_STUDY_N_RATES * EXP_STUDY_N_MISSES && !err; i++) {
        const size_t k = i % EXP_STUDY_N_MISSES;
        const struct exp_study_rate_record *r = &exp_study_rates[i / EXP_STUDY_N_MISSES];
        const struct exp_study_micro *x = &micro[i / EXP_STUDY_N_MISSES];

        rec_put(csv, &exp_study_micro_table,
                &(struct rate_row){ machine, misses[k], *r, rate_macs(r), x->n, x->cycles[k] });
    }
    return err ? err : exp_csv_close(csv, why);
}

void exp_study_hybrid_document(FILE *out)
{
    exp_csv_document(&exp_study_hybrid_table.file, out);
    exp_csv_document(&exp_study_rates_table.file, out);
}

void exp_study_micro_document(FILE *out)
{
    exp_csv_document(&exp_study_micro_table.file, out);
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
        const double macs = rate_macs(&exp_study_rates[i]);
        const struct exp_study_both r = rate_of(s, b, macs);

        if (r.base > 0)
            fprintf(out, "| %s | %.0f | %s | %.0f %% | %.0f %% | %.2f |\n", s->name, macs, exp_study_rates[i].what,
                    r.base_packing_percent, r.sconv_packing_percent, r.speedup);
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

void exp_study_micro_print(const struct exp_study_micro micro[EXP_STUDY_N_RATES], const char *machine, FILE *out)
{
    fprintf(
        out,
        "A faster micro-kernel, replayed: both algorithms on the caches of %s, a sample of %zu layers, cold, with the "
        "tiles of the micro-kernel that is named. Micro-kernels take their multiply-adds; im2col and packing take "
        "their loads or stores at %s's rates. Loads that miss hit all the same, or wait for their latency: the truth "
        "is between the two. Packing is that of the tiles' instruction set: MMA's moves 16 bytes at a time.\n\n"
        "| multiply-adds per cycle | such as | tiles of | if all hit: packing, of Base | packing, of SConv | Base / "
        "SConv | if all misses wait: packing, of Base | packing, of SConv | Base / SConv |\n"
        "|---:|---|---|---:|---:|---:|---:|---:|---:|\n",
        machine, micro[0].n, machine);
    for (size_t i = 0; i < EXP_STUDY_N_RATES; i++) {
        const struct exp_study_rate_record *r = &exp_study_rates[i];

        fprintf(out, "| %.0f | %s | %s, %s |", rate_macs(r), r->what, r->ukr, r->core);
        for (unsigned k = 0; k < EXP_STUDY_N_MISSES; k++) {
            const struct exp_study_both *c = &micro[i].cycles[k];

            fprintf(out, " %.0f %% | %.0f %% | %.2f |", c->base_packing_percent, c->sconv_packing_percent, c->speedup);
        }
        fprintf(out, "\n");
    }
}
