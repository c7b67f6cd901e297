/* The jury's tables. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/cycles.h"
#include "experiments/choices/jury/jury.h"

/* Bounds of the targets, set before the first run. */
static const struct exp_bound bounds[EXP_N_TARGETS] = {
    [EXP_TARGET_MEDIAN] = { 6, 4, 0, 0 },     [EXP_TARGET_P90] = { 18, 12, 0, 0 },
    [EXP_TARGET_SIDE] = { 92, 96, 5, 5 },     [EXP_TARGET_SCHEDULE] = { 0, 0, 5, 10 },
    [EXP_TARGET_REGRET] = { 1.5, 0.7, 0, 0 }, [EXP_TARGET_REGRET_SUM] = { 0, 0, 0, 0 },
};

#define NO_BASE "Base was not asked for"
#define NO_CYCLES "no simulation of both stands beside it"

/* ---- numbers of a case ---- */

static struct value simulated_cycles(const struct exp_jury *j, const struct exp_jury_case *c)
{
    return value_or(c->cycles, c->why_unsimulated         ? c->why_unsimulated
                               : *j->setup->why_no_cycles ? j->setup->why_no_cycles
                               : c->cycles > 0            ? NULL
                                                          : EXP_NO_WORK_ON_RECORD);
}

static struct value cycles_taken(const struct exp_jury *j, const struct exp_jury_case *c)
{
    const double ghz = c->ghz > 0 ? c->ghz : j->setup->machine.issue.clock_ghz;
    const char *why = c->why_untimed ? c->why_untimed : j->why_elsewhere;

    return value_or(c->ns * ghz, why ? why : ghz > 0 ? NULL : "the core's clock is not known");
}

static struct value simulated_speedup(const struct exp_jury *j, const struct exp_jury_layer *l,
                                      const struct exp_jury_case *c)
{
    return value_ratio(simulated_cycles(j, &l->by[0]), simulated_cycles(j, c), 1);
}

static bool has_base(const struct exp_jury *j)
{
    return j->n_algos && j->n_judged && j->layer[j->order[0]].by[0].algo == exp_algo_base();
}

/* Returns the deciding speed-up over Base: by the clock, or simulated if nothing is timed. */
static struct value speedup_of(const struct exp_jury *j, const struct exp_jury_layer *l, const struct exp_jury_case *c)
{
    if (!has_base(j))
        return value_none(NO_BASE);
    if (j->why_untimed)
        return simulated_speedup(j, l, c);
    return value_if_finite(c->speedup.value, c->why_untimed ? c->why_untimed : "Base was not timed");
}

/* ---- jury.csv ---- */

static struct value count_of(const struct exp_jury_case *c, double count)
{
    return value_or(count, c->why_unsimulated);
}

static struct exp_jury_row row_of(const struct exp_jury *j, const struct exp_jury_layer *l, size_t a)
{
    const struct conv_problem *p = &l->layer->problem;
    const struct exp_jury_case *c = &l->by[a];
    const struct value taken = cycles_taken(j, c), cycles = simulated_cycles(j, c);
    const char *no_interval = c->why_untimed ? c->why_untimed : EXP_RATIO_NO_INTERVAL;
    struct value error = value_ratio(cycles, taken, 100);

    error.number -= 100;
    return (struct exp_jury_row){
        .layer = l->layer->name,
        .kind = exp_jury_kinds[l->kind].name,
        .algo = c->algo->name,
        .index = l->layer->index,
        .line = l->layer->line,
        .batch = p->n,
        .c = p->c,
        .h = p->h,
        .w = p->w,
        .k = p->k,
        .r = p->r,
        .s = p->s,
        .stride_h = p->stride_h,
        .stride_w = p->stride_w,
        .dilation_h = p->dilation_h,
        .dilation_w = p->dilation_w,
        .pad_top = p->pad_top,
        .pad_bottom = p->pad_bottom,
        .pad_left = p->pad_left,
        .pad_right = p->pad_right,
        .groups = p->groups,
        .p = p->p,
        .q = p->q,
        .is_chosen = a == l->chosen,
        .macs = conv_macs(p),
        .time_ns = value_or(c->ns, c->why_untimed),
        .speedup = value_if_finite(c->speedup.value, c->why_untimed ? c->why_untimed : NO_BASE),
        .low = value_if_finite(c->speedup.low, no_interval),
        .high = value_if_finite(c->speedup.high, no_interval),
        .rounds = value_or((double)c->n_rounds, c->why_untimed),
        .ghz = value_or(c->ghz, c->why_untimed ? c->why_untimed
                                : c->ghz > 0   ? NULL
                                               : "not measured here"),
        .cycles_taken = taken,
        .simulated_cycles = cycles,
        .simulated_speedup = has_base(j) ? simulated_speedup(j, l, c) : value_none(NO_BASE),
        .error_percent = error,
        .loads = count_of(c, c->loads),
        .stores = count_of(c, c->stores),
        .l1_misses = count_of(c, c->l1_misses),
        .l2_misses = count_of(c, c->l2_misses),
        .l3_misses = count_of(c, c->l3_misses),
        .memory_lines = count_of(c, c->memory_lines),
        .mac_instructions = count_of(c, c->mac_instructions),
        .simulated_share = count_of(c, c->share),
    };
}

static void make_rows(struct exp_jury_report *r)
{
    const struct exp_jury *j = r->jury;

    r->row = exp_new(j->model->n_layers * j->n_algos + 1, sizeof *r->row);
    for (size_t i = 0; i < j->model->n_layers; i++) {
        for (size_t a = 0; a < j->n_algos; a++) {
            const struct exp_jury_case *c = &j->layer[i].by[a];

            r->row[r->n_rows++] = row_of(j, &j->layer[i], a);
            r->n_untimed += c->why_untimed != NULL;
            r->n_unsimulated += c->why_unsimulated != NULL;
        }
    }
}

/* ---- losses.csv ---- */

static struct exp_jury_loss loss_of(const struct exp_jury *j, const struct exp_jury_layer *l,
                                    const struct exp_jury_case *c, double speedup)
{
    const struct exp_jury_case *base = &l->by[0];
    const struct value simulated = simulated_speedup(j, l, c);
    const char *why = c->why_unsimulated ? c->why_unsimulated : base->why_unsimulated,
               *no_cycles = why ? why : NO_CYCLES;
    const bool has_cycles = value_is_known(simulated);
    const struct exp_advice_cause *cause;
    double most;

    cause = why ? NULL : exp_advice_find_cause(c->cause, base->cause, !has_cycles, &most);
    return (struct exp_jury_loss){
        .layer = l->layer->name,
        .kind = exp_jury_kinds[l->kind].name,
        .algo = c->algo->name,
        .by = j->why_untimed ? "simulation" : "clock",
        .cause = cause ? cause->words : "not simulated",
        .says = !has_cycles            ? "not simulated"
                : simulated.number < 1 ? "slower"
                                       : "faster",
        .speedup = speedup,
        .is_chosen = l->chosen < j->n_algos && c == &l->by[l->chosen],
        .low = value_if_finite(c->speedup.low, c->why_untimed ? c->why_untimed : EXP_RATIO_NO_INTERVAL),
        .simulated_speedup = simulated,
        .cause_percent = cause && has_cycles ? value_of(100 * most / base->cycles) : value_none(no_cycles),
        .instructions_ratio = value_ratio(count_of(c, c->loads + c->stores + c->mac_instructions),
                                          count_of(base, base->loads + base->stores + base->mac_instructions), 1),
        .misses_ratio = value_ratio(count_of(c, c->l1_misses), count_of(base, base->l1_misses), 1),
    };
}

static int by_speedup(const void *a, const void *b)
{
    const struct exp_jury_loss *x = a, *y = b;

    return x->speedup < y->speedup ? -1 : x->speedup > y->speedup ? 1 : strcmp(x->layer, y->layer);
}

static void make_losses(struct exp_jury_report *r)
{
    const struct exp_jury *j = r->jury;

    for (size_t i = 0; i < j->n_judged; i++) {
        const struct exp_jury_layer *l = &j->layer[j->order[i]];

        for (size_t a = 1; a < j->n_algos; a++) {
            const struct value speedup = speedup_of(j, l, &l->by[a]);

            if (speedup.why || !(speedup.number < EXP_JURY_LOSS))
                continue;
            *(struct exp_jury_loss *)exp_append(&r->loss, &r->n_losses, sizeof *r->loss) =
                loss_of(j, l, &l->by[a], speedup.number);
            r->n_explained += !strcmp(r->loss[r->n_losses - 1].says, "slower");
        }
    }
    if (r->n_losses)
        qsort(r->loss, r->n_losses, sizeof *r->loss, by_speedup);
}

/* ---- kinds.csv ---- */

/* Returns the case of algorithm a; of n_algos: the schedule that CSA chose; NULL: it has none. */
static const struct exp_jury_case *case_by(const struct exp_jury *j, const struct exp_jury_layer *l, size_t a)
{
    a = a == j->n_algos ? l->chosen : a;
    return a < j->n_algos ? &l->by[a] : NULL;
}

/* Finds the most frequent cause among the losses of a kind (NULL: all) by an algorithm (NULL: what CSA chose). */
static const char *frequent_cause(const struct exp_jury_report *r, const char *kind, const char *algo)
{
    const char *best = "";
    size_t most = 0;

    for (size_t i = 0; i < exp_advice_n_causes(); i++) {
        const char *words = exp_advice_cause_at(i)->words;
        size_t n = 0;

        for (const struct exp_jury_loss *l = r->loss; l < r->loss + r->n_losses; l++)
            n += !strcmp(l->cause, words) && (!kind || !strcmp(l->kind, kind)) &&
                 (!algo ? l->is_chosen != 0 : !strcmp(l->algo, algo));
        best = n > most ? words : best;
        most = n > most ? n : most;
    }
    return best;
}

/* Speed-ups of an algorithm over the shapes of a kind. */
static struct exp_jury_sum sum_of(const struct exp_jury_report *r, size_t kind, size_t a)
{
    const struct exp_jury *j = r->jury;
    double *speedup = exp_new(j->n_judged + 1, sizeof *speedup),
           *simulated = exp_new(j->n_judged + 1, sizeof *simulated);
    struct exp_jury_sum x = { .kind = kind < EXP_JURY_N_KINDS ? exp_jury_kinds[kind].name : "all",
                              .words = kind < EXP_JURY_N_KINDS ? exp_jury_kinds[kind].words : "all kinds" };
    struct exp_spread spread;
    size_t n_simulated = 0;

    for (size_t i = 0; i < j->n_judged; i++) {
        const struct exp_jury_layer *l = &j->layer[j->order[i]];
        const struct exp_jury_case *c = case_by(j, l, a);
        const struct value of = c ? speedup_of(j, l, c) : value_none(NO_BASE);
        const struct value by = c ? simulated_speedup(j, l, c) : value_none(NO_BASE);

        if (of.why || (kind < EXP_JURY_N_KINDS && l->kind != kind))
            continue;
        speedup[x.n++] = of.number;
        x.n_faster += of.number > 1;
        x.n_lost += of.number < EXP_JURY_LOSS;
        x.n_explained += of.number < EXP_JURY_LOSS && by.number < 1;
        if (value_is_known(by))
            simulated[n_simulated++] = by.number;
    }
    x.geomean = value_if_finite(exp_stats_geomean(speedup, x.n), REC_DOES_NOT_APPLY);
    x.simulated_geomean = value_if_finite(exp_stats_geomean(simulated, n_simulated), NO_CYCLES);
    x.faster_percent = value_if_finite(100 * (double)x.n_faster / (double)x.n, REC_DOES_NOT_APPLY);
    spread = exp_spread_of(speedup, x.n);
    x.p10 = value_if_finite(spread.p10, REC_DOES_NOT_APPLY);
    x.median = value_if_finite(spread.median, REC_DOES_NOT_APPLY);
    x.p90 = value_if_finite(spread.p90, REC_DOES_NOT_APPLY);
    free(speedup);
    free(simulated);
    return x;
}

static void make_sums(struct exp_jury_report *r)
{
    const struct exp_jury *j = r->jury;

    for (size_t kind = 0; kind <= EXP_JURY_N_KINDS && has_base(j); kind++) {
        for (size_t a = 1; a <= j->n_algos; a++) {
            const char *name = a < j->n_algos ? j->layer->by[a].algo->name : exp_algo_chosen()->name;
            struct exp_jury_sum x = sum_of(r, kind, a);

            if (!x.n)
                continue;
            x.algo = name;
            x.cause = frequent_cause(r, kind < EXP_JURY_N_KINDS ? x.kind : NULL, a < j->n_algos ? name : NULL);
            *(struct exp_jury_sum *)exp_append(&r->sum, &r->n_sums, sizeof x) = x;
        }
    }
}

const struct exp_jury_sum *exp_jury_sum_of(const struct exp_jury_report *r, const char *kind, const char *algo)
{
    for (const struct exp_jury_sum *s = r->sum; s < r->sum + r->n_sums; s++) {
        if (!strcmp(s->kind, kind) && !strcmp(s->algo, algo))
            return s;
    }
    return NULL;
}

/* ---- CSA's choice of the schedule ---- */

/* Counts CSA's choices, and how many were right. */
static void judge_schedules(struct exp_jury_report *r)
{
    const struct exp_jury *j = r->jury;

    for (size_t i = 0; i < j->n_judged; i++) {
        const struct exp_jury_layer *l = &j->layer[j->order[i]];
        struct value speed[2] = { value_none(NO_BASE), value_none(NO_BASE) }; /* IS, WS */
        size_t chosen = 2;

        for (size_t a = 0; a < j->n_algos; a++) {
            const bool is_ws = l->by[a].algo->schedule == CSA_WS;

            if (l->by[a].algo->when != EXP_ALGO_MEMBER)
                continue;
            speed[is_ws] = speedup_of(j, l, &l->by[a]);
            chosen = a == l->chosen ? is_ws : chosen;
        }
        if (chosen == 2 || speed[0].why || speed[1].why ||
            fmax(speed[0].number, speed[1].number) <= EXP_JURY_DIFFER * fmin(speed[0].number, speed[1].number))
            continue;
        r->n_schedules++;
        r->n_csa_right += speed[chosen].number > speed[!chosen].number;
        r->n_ws_faster += speed[1].number > speed[0].number;
    }
}

/* ---- targets.csv ---- */

static void judge_targets(struct exp_jury_report *r)
{
    const struct exp_jury *j = r->jury;
    struct exp_taken *row = exp_new(j->n_judged * j->n_algos + 1, sizeof *row);
    size_t n = 0;

    for (size_t i = 0; i < j->n_judged; i++) {
        const struct exp_jury_layer *l = &j->layer[j->order[i]];

        for (size_t a = 0; a < j->n_algos; a++) {
            const struct exp_jury_case *c = &l->by[a];
            const struct value taken = cycles_taken(j, c), cycles = simulated_cycles(j, c);

            if (c->algo->plugin && cycles.why)
                continue;
            row[n++] = (struct exp_taken){ .problem = &l->layer->problem,
                                           .algo = c->algo,
                                           .layer = i,
                                           .taken = taken.number,
                                           .simulated = cycles.number,
                                           .amount = { conv_macs(&l->layer->problem), c->loads, c->stores, 1 } };
        }
    }
    exp_taken_number(row, n);
    exp_targets_judge(row, n, bounds, r->target);
    free(row);
}

void exp_jury_report_make(struct exp_jury_report *r, const struct exp_jury *j)
{
    assert(r && j);
    *r = (struct exp_jury_report){ .jury = j, .is_timed = !j->why_untimed };
    make_rows(r);
    if (has_base(j))
        make_losses(r);
    make_sums(r);
    judge_schedules(r);
    judge_targets(r);
}

void exp_jury_report_release(struct exp_jury_report *r)
{
    free(r->row);
    free(r->loss);
    free(r->sum);
    *r = (struct exp_jury_report){ 0 };
}

/* ---- files ---- */

#define ROW struct exp_jury_row

static const struct rec_field fields[] = {
    { { "layer", "", "file and number of the row", "" }, REC_AT(ROW, layer) },
    { { "layer_index", "", "the row's number in all tables", "" }, REC_AT(ROW, index) },
    { { "line", "", "in the row's table", "" }, REC_AT(ROW, line) },
    { { "kind", "", "kinds.csv says what it means", "" }, REC_AT(ROW, kind) },
    { { "batch", "", "images", "" }, REC_AT(ROW, batch) },
    { { "in_c", "", "input channels", "" }, REC_AT(ROW, c) },
    { { "in_h", "", "input height", "" }, REC_AT(ROW, h) },
    { { "in_w", "", "input width", "" }, REC_AT(ROW, w) },
    { { "out_c", "", "filters", "" }, REC_AT(ROW, k) },
    { { "k_h", "", "filter height", "" }, REC_AT(ROW, r) },
    { { "k_w", "", "filter width", "" }, REC_AT(ROW, s) },
    { { "stride_h", "", "", "" }, REC_AT(ROW, stride_h) },
    { { "stride_w", "", "", "" }, REC_AT(ROW, stride_w) },
    { { "pad_top", "", "", "" }, REC_AT(ROW, pad_top) },
    { { "pad_bottom", "", "", "" }, REC_AT(ROW, pad_bottom) },
    { { "pad_left", "", "", "" }, REC_AT(ROW, pad_left) },
    { { "pad_right", "", "", "" }, REC_AT(ROW, pad_right) },
    { { "dilation_h", "", "", "" }, REC_AT(ROW, dilation_h) },
    { { "dilation_w", "", "", "" }, REC_AT(ROW, dilation_w) },
    { { "group", "", "groups", "" }, REC_AT(ROW, groups) },
    { { "out_h", "", "output height", "" }, REC_AT(ROW, p) },
    { { "out_w", "", "output width", "" }, REC_AT(ROW, q) },
    { { "macs", "", "nominal multiply-adds", "" }, REC_AT(ROW, macs) },
    { { "algo", "", "algorithm", "" }, REC_AT(ROW, algo) },
    { { "is_chosen", "", "1: the schedule that CSA chooses", "" }, REC_AT(ROW, is_chosen) },
    { { "rounds", "", "timed", "clock" }, REC_VALUE(ROW, rounds) },
    { { "time_ns", "ns", "mean of the fastest quarter of the rounds", "clock" }, REC_VALUE(ROW, time_ns) },
    { { "speedup", "", "how many times as fast as Base", "clock" }, REC_VALUE(ROW, speedup) },
    { { "speedup_low", "", "95 % interval", "clock" }, REC_VALUE(ROW, low) },
    { { "speedup_high", "", "95 % interval", "clock" }, REC_VALUE(ROW, high) },
    { { "ghz", "GHz", "the core's clock while it was timed", "clock" }, REC_VALUE(ROW, ghz) },
    { { "cycles_taken", "cycles", "time at that clock, on the simulated machine", "clock" },
      REC_VALUE(ROW, cycles_taken) },
    { { "simulated_cycles", "cycles", "by the simulated core's clock", "replay" }, REC_VALUE(ROW, simulated_cycles) },
    { { "simulated_speedup", "", "Base's simulated cycles / these", "replay" }, REC_VALUE(ROW, simulated_speedup) },
    { { "error_percent", "%", "simulated cycles, less cycles taken, of cycles taken", "replay" },
      REC_VALUE(ROW, error_percent) },
    { { "simulated_loads", "loads", "load instructions", "replay" }, REC_VALUE(ROW, loads) },
    { { "simulated_stores", "stores", "store instructions", "replay" }, REC_VALUE(ROW, stores) },
    { { "simulated_l1_load_misses", "loads", "loads not served by L1", "replay" }, REC_VALUE(ROW, l1_misses) },
    { { "simulated_l2_load_misses", "loads", "loads not served by L1 or L2", "replay" }, REC_VALUE(ROW, l2_misses) },
    { { "simulated_l3_load_misses", "loads", "loads served by memory", "replay" }, REC_VALUE(ROW, l3_misses) },
    { { "simulated_memory_read_lines", "lines", "lines from memory", "replay" }, REC_VALUE(ROW, memory_lines) },
    { { "mac_instructions", "", "multiply-adds that micro-kernels issue", "replay" },
      REC_VALUE(ROW, mac_instructions) },
    { { "simulated_share", "", "of the accesses, what was simulated one by one", "replay" },
      REC_VALUE(ROW, simulated_share) },
};

const struct rec_table exp_jury_table = REC_TABLE("jury.csv", fields, ROW);

#undef ROW
#define ROW struct exp_jury_loss

static const struct rec_field loss_fields[] = {
    { { "layer", "", "file and number of the row", "" }, REC_AT(ROW, layer) },
    { { "kind", "", "kinds.csv says what it means", "" }, REC_AT(ROW, kind) },
    { { "algo", "", "algorithm", "" }, REC_AT(ROW, algo) },
    { { "is_chosen", "", "1: the schedule that CSA chooses", "" }, REC_AT(ROW, is_chosen) },
    { { "by", "", "clock, or simulation where nothing was timed", "" }, REC_AT(ROW, by) },
    { { "speedup", "", "over Base: below 0.95", "" }, REC_AT(ROW, speedup) },
    { { "speedup_low", "", "95 % interval", "clock" }, REC_VALUE(ROW, low) },
    { { "simulated_speedup", "", "Base's simulated cycles / these", "replay" }, REC_VALUE(ROW, simulated_speedup) },
    { { "simulation_says", "", "slower: the simulation explains the loss", "replay" }, REC_AT(ROW, says) },
    { { "cause", "", "where the algorithm has most more cycles than Base", "replay" }, REC_AT(ROW, cause) },
    { { "cause_percent", "%", "these cycles, of Base's simulated cycles", "replay" }, REC_VALUE(ROW, cause_percent) },
    { { "instructions_ratio", "", "loads, stores and multiply-adds / Base's", "replay" },
      REC_VALUE(ROW, instructions_ratio) },
    { { "l1_misses_ratio", "", "L1 load misses / Base's", "replay" }, REC_VALUE(ROW, misses_ratio) },
};

const struct rec_table exp_jury_losses_table = REC_TABLE("losses.csv", loss_fields, ROW);

#undef ROW
#define ROW struct exp_jury_sum

static const struct rec_field sum_fields[] = {
    { { "kind", "", "the first that fits, in this order; all: all shapes", "" }, REC_AT(ROW, kind) },
    { { "meaning", "", "of the kind", "" }, REC_AT(ROW, words) },
    { { "algo", "", "algorithm; sconv: in the schedule that CSA chooses", "" }, REC_AT(ROW, algo) },
    { { "shapes", "", "with speed-ups", "" }, REC_AT(ROW, n) },
    { { "faster", "", "shapes faster than Base", "" }, REC_AT(ROW, n_faster) },
    { { "faster_percent", "%", "of the shapes", "" }, REC_VALUE(ROW, faster_percent) },
    { { "geomean", "", "speed-up over Base: geometric mean", "" }, REC_VALUE(ROW, geomean) },
    { { "p10", "", "speed-up that 10 % stay below", "" }, REC_VALUE(ROW, p10) },
    { { "median", "", "speed-up", "" }, REC_VALUE(ROW, median) },
    { { "p90", "", "speed-up that 90 % stay below", "" }, REC_VALUE(ROW, p90) },
    { { "simulated_geomean", "", "simulated speed-up: geometric mean", "replay" }, REC_VALUE(ROW, simulated_geomean) },
    { { "losses", "", "shapes of a speed-up below 0.95", "" }, REC_AT(ROW, n_lost) },
    { { "losses_explained", "", "losses that the simulation calls slower, too", "replay" }, REC_AT(ROW, n_explained) },
    { { "frequent_cause", "", "of the losses", "replay" }, REC_AT(ROW, cause) },
};

const struct rec_table exp_jury_kinds_table = REC_TABLE("kinds.csv", sum_fields, ROW);

#undef ROW

int exp_jury_report_write(const struct exp_jury_report *r, const struct exp_outdir *dir, const char *what,
                          struct exp_why *why)
{
    int err = rec_write(&exp_jury_table, r->row, r->n_rows, dir, what, why);

    err = err ? err : rec_write(&exp_jury_losses_table, r->loss, r->n_losses, dir, what, why);
    err = err ? err : rec_write(&exp_jury_kinds_table, r->sum, r->n_sums, dir, what, why);
    return err ? err : rec_write(&exp_target_table, r->target, EXP_N_TARGETS, dir, what, why);
}
