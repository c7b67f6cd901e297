#include "experiments/polydl/exp_polydl_report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/base/exp_table.h"
#include "experiments/polydl/fused/exp_fused.h"
#include "experiments/setup/exp_model.h"

/*
 * Facts are what printed.csv has of ours that is no speed of a pick: what was run, what analyses took, what fusing
 * brings. Each says its number as text, or "" if this run does not have it.
 */
typedef void fact_fn(const struct exp_rank_results *x, char *text, size_t bytes);

/* ---- the machine ---- */

static void say_level(const struct exp_rank_results *x, size_t level, char *text, size_t bytes)
{
    const struct sim_machine *m = x->rank->polydl->machine;

    if (level < m->n_levels)
        exp_say(text, bytes, "%" PRIu64 " KiB", sim_level_bytes(&m->level[level]) / 1024);
}

static void fact_l1(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_level(x, 0, text, bytes);
}

static void fact_l2(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_level(x, 1, text, bytes);
}

static void fact_l3(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_level(x, 2, text, bytes);
}

/* ---- what was run ---- */

/* A range of numbers and their mean. */
struct range {
    double least, most, sum;
    size_t n;
};

static void add(struct range *r, double x)
{
    if (!isfinite(x))
        return;
    r->least = r->n ? fmin(r->least, x) : x;
    r->most = r->n ? fmax(r->most, x) : x;
    r->sum += x;
    r->n++;
}

static bool is_convolution(const struct exp_polydl_layer *l)
{
    return l->source.problem && l->variants.n;
}

static void fact_images(const struct exp_rank_results *x, char *text, size_t bytes)
{
    exp_say(text, bytes, "1 per thread; %zu of fused operators", x->fused->n_images);
}

static void fact_layers(const struct exp_rank_results *x, char *text, size_t bytes)
{
    const struct exp_polydl *p = x->rank->polydl;
    size_t n = 0;

    for (size_t i = 0; i < p->n_layers; i++)
        n += is_convolution(&p->layer[i]);
    exp_say(text, bytes, "%zu", n);
}

static void fact_variants(const struct exp_rank_results *x, char *text, size_t bytes)
{
    const struct exp_polydl *p = x->rank->polydl;
    struct range r = { .n = 0 };

    for (size_t i = 0; i < p->n_layers; i++)
        add(&r, is_convolution(&p->layer[i]) ? (double)p->layer[i].variants.n : (double)NAN);
    if (r.n)
        exp_say(text, bytes, "%.0f-%.0f; avg %.1f", r.least, r.most, r.sum / (double)r.n);
}

static void fact_rounds(const struct exp_rank_results *x, char *text, size_t bytes)
{
    const struct exp_polydl *p = x->rank->polydl;
    struct range r = { .n = 0 };

    for (size_t i = 0; i < p->n_layers; i++) {
        for (size_t v = 0; v < p->layer[i].variants.n; v++) {
            const size_t n = p->layer[i].of[v].time[EXP_POLYDL_ONE].n_rounds;

            add(&r, n ? (double)n : (double)NAN);
        }
    }
    if (r.n)
        exp_say(text, bytes, "the fastest of %.0f-%.0f; avg %.0f", r.least, r.most, r.sum / (double)r.n);
}

/* Says how many of PolyDL's layers have blocks, of all that its scripts list. */
static void fact_blocked(const struct exp_rank_results *x, char *text, size_t bytes)
{
    const double all = exp_models_rows(x->experiments_dir, "polydl/*.csv"),
                 excluded = exp_models_rows(x->experiments_dir, "polydl/excluded.csv");

    if (all > 0)
        exp_say(text, bytes, "%.0f", 100 * (all - excluded) / all);
}

/* Says how many layers train the net. */
static void fact_training(const struct exp_rank_results *x, char *text, size_t bytes)
{
    const struct exp_rank *r = x->rank;
    size_t n = 0, n_training = 0;

    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        n += r->polydl->layer[i].variants.n > 0;
        n_training += r->polydl->layer[i].variants.n && r->layer[i].is_training;
    }
    if (r->learnt[EXP_POLYDL_ONE].net.weight)
        exp_say(text, bytes, "%.0f (of layers)", 100 * (double)n_training / (double)n);
}

/* ---- what analyses take ---- */

static double polydl_seconds(const struct exp_analysis *a)
{
    return a->polydl[EXP_POLYDL_ONE].seconds;
}

static double haystack_seconds(const struct exp_analysis *a)
{
    return a->haystack_seconds;
}

static void say_seconds(const struct exp_rank_results *x, double (*seconds)(const struct exp_analysis *a), char *text,
                        size_t bytes)
{
    const struct exp_polydl *p = x->rank->polydl;
    struct range r = { .n = 0 };

    for (size_t i = 0; i < p->n_layers; i++) {
        for (size_t v = 0; v < p->layer[i].variants.n; v++)
            add(&r, seconds(&x->rank->analyses.of[i][v]));
    }
    if (r.n)
        exp_say(text, bytes, "%.2g-%.2g s; avg %.2g s", r.least, r.most, r.sum / (double)r.n);
}

static void fact_polydl_seconds(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_seconds(x, polydl_seconds, text, bytes);
}

static void fact_haystack_seconds(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_seconds(x, haystack_seconds, text, bytes);
}

/* ---- what fusing brings ---- */

static void say_fused(const struct exp_rank_results *x, enum exp_fused_pair pair, enum exp_fused_way over, char *text,
                      size_t bytes)
{
    const double speedup = exp_fused_speedup(x->fused, pair, over);

    if (isfinite(speedup))
        exp_say(text, bytes, "%.2f", speedup);
}

static void fact_bnorm(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_fused(x, EXP_FUSED_BNORM, EXP_FUSED_APART, text, bytes);
}

static void fact_bnorm_onednn(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_fused(x, EXP_FUSED_BNORM, EXP_FUSED_ONEDNN, text, bytes);
}

static void fact_conv(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_fused(x, EXP_FUSED_CONV, EXP_FUSED_APART, text, bytes);
}

/* ---- what is compared ---- */

/* Whose speed it is: of a ranking's pick or the best of its first ones, of a baseline, or of the fastest variant. */
enum method {
#define PICK(ranking) EXP_RANKING_##ranking
#define BASELINE(baseline) (EXP_N_RANKINGS + EXP_POLYDL_##baseline)
    FASTEST = EXP_N_RANKINGS + EXP_N_POLYDL_BASELINES,
    NOBODY,    /* the number is GFLOP/s, and no ratio */
    TOP_FIRST, /* and on: of a ranking's best among its first 5 % */
#define TOP(ranking) (TOP_FIRST + EXP_RANKING_##ranking)
};

/* Makes one text of the numbers of layers. */
typedef void (*say_fn)(char *text, size_t bytes, double *x, size_t n);

static void say_geomean(char *text, size_t bytes, double *x, size_t n)
{
    exp_say(text, bytes, "%.3g", exp_stats_geomean(x, n));
}

static void say_percent(char *text, size_t bytes, double *x, size_t n)
{
    exp_say(text, bytes, "%+.1f", 100 * (exp_stats_geomean(x, n) - 1));
}

static void say_range(char *text, size_t bytes, double *x, size_t n)
{
    exp_stats_sort_up(x, n);
    exp_say(text, bytes, "%.3g-%.3g", x[0], x[n - 1]);
}

static void say_mean(char *text, size_t bytes, double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    exp_say(text, bytes, "%.3g", sum / (double)n);
}

#define GEMMS ""

/* A printed number, and what of ours stands beside it: a fact, or method's speed over that of another. */
struct claim {
    const char *figure, *workload, *metric;
    fact_fn *fact;       /* NULL: all that follows */
    const char *model;   /* NULL: of all convolutions; GEMMS */
    const char *numbers; /* places of layers; "": all of the model */
    int method, over;
    say_fn say;
};

static const struct claim claims[] = {
#define CLAIM(figure, workload, metric, model, numbers, method, over, say)                                             \
    { figure, workload, metric, NULL, model, numbers, method, over, say_##say },
#define FACT(in, about, what, says) { .figure = in, .workload = about, .metric = what, .fact = fact_##says },
#include "experiments/polydl/printed.def"
};

enum { N_CLAIMS = sizeof claims / sizeof claims[0] };

/* ---- ours ---- */

static double time_of(const struct exp_rank *r, size_t layer, int method)
{
    const struct exp_rank_layer *l = &r->layer[layer];

    if (method == FASTEST)
        return l->best_ns[EXP_POLYDL_ONE];
    if (method >= TOP_FIRST)
        return l->best_ns[EXP_POLYDL_ONE] / l->verdict[EXP_POLYDL_ONE][method - TOP_FIRST].top_share;
    if (method >= EXP_N_RANKINGS)
        return r->polydl->layer[layer].baseline[method - EXP_N_RANKINGS].fastest_ns;
    return l->verdict[EXP_POLYDL_ONE][method].time_ns;
}

/* Tells whether a place is among numbers in ascending order, or there are none. */
static bool is_listed(size_t place, const char *numbers)
{
    char *next;

    if (!*numbers)
        return true;
    for (; *numbers; numbers = next) {
        if (strtoul(numbers, &next, 10) == place)
            return true;
    }
    return false;
}

static bool is_of(const struct exp_polydl *p, size_t layer, const struct claim *c)
{
    const struct exp_polydl_layer *l = &p->layer[layer];

    if (!l->source.problem)
        return c->model && !strcmp(c->model, GEMMS);
    return (!c->model || !strcmp(c->model, l->model)) && is_listed(exp_rank_place(p, layer), c->numbers);
}

/* Tells whether the net's picks are in a number, or are ranked beside it as in Figure 15: then held-out layers count. */
static bool is_of_net(const struct claim *c)
{
    return c->method == PICK(DNN) || c->method == TOP(DNN) || !c->model;
}

/* Says our number, of layers of a part if they are not GEMMs; x[n_layers] is room. */
static void say_ratio(const struct exp_rank *r, const struct claim *c, bool held_out, double *x, char *text,
                      size_t bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        const struct exp_polydl_layer *l = &r->polydl->layer[i];
        const double own = time_of(r, i, c->method), other = c->over == NOBODY ? l->flops : time_of(r, i, c->over);

        if (is_of(r->polydl, i, c) && !(held_out && r->layer[i].is_training) && own > 0 && other > 0)
            x[n++] = other / own;
    }
    if (n)
        c->say(text, bytes, x, n);
    else
        exp_say(text, bytes, "not available: %s",
                held_out ? "the net was trained on all of these layers" : "not timed in this run");
}

/* Says our number, and the same of layers that the net has not seen. */
static void say_ours(const struct exp_rank_results *from, const struct claim *c, double *x, char *ours, char *held_out,
                     size_t bytes)
{
    *ours = '\0';
    if (!c->fact)
        say_ratio(from->rank, c, false, x, ours, bytes);
    else
        c->fact(from, ours, bytes);
    if (c->fact && !*ours)
        exp_say(ours, bytes, "not available: not in this run");
    if (!c->fact && is_of_net(c) && from->rank->learnt[EXP_POLYDL_ONE].net.weight)
        say_ratio(from->rank, c, true, x, held_out, bytes);
}

/* ---- the file ---- */

struct printed_row {
    const char *figure, *workload, *metric, *printed;
    char ours[80], held_out[80];
};

#define PRINTED struct printed_row

static const struct rec_field columns[] = {
    { { "figure", "", "of PolyDL's paper", "" }, REC_AT(PRINTED, figure) },
    { { "workload", "", "what it is about", "" }, REC_AT(PRINTED, workload) },
    { { "metric", "", "what is compared", "" }, REC_AT(PRINTED, metric) },
    { { "printed", "", "the paper's number: 28 cores of a Xeon Platinum 8280, of a GEMM 32", "published/others.csv" },
      REC_AT(PRINTED, printed) },
    { { "ours_held_out", "",
        "ours, where PolyDL's net is in it, of the layers that did not train it; - : the net is not in it, or was not "
        "trained",
        "clock" },
      REC_AT(PRINTED, held_out) },
    { { "ours", "",
        "ours, on one thread, of all layers; of several layers the geometric mean, of Figure 15 the mean; - : not made "
        "here",
        "clock" },
      REC_AT(PRINTED, ours) },
};

const struct rec_table exp_rank_printed_table = REC_TABLE("printed.csv", columns, PRINTED);

/* The columns of others.csv that are looked at. */
enum { PAPER, FIGURE, WORKLOAD, METRIC, VALUE, N_WANTED };

static const char *const wanted[N_WANTED] = { "paper", "figure_or_table", "workload", "metric", "value" };

static const struct claim *find_claim(const struct exp_table *t, size_t row, const size_t column[N_WANTED])
{
    for (size_t i = 0; i < N_CLAIMS; i++) {
        if (!strcmp(claims[i].figure, exp_table_string(t, row, column[FIGURE])) &&
            !strcmp(claims[i].workload, exp_table_string(t, row, column[WORKLOAD])) &&
            !strcmp(claims[i].metric, exp_table_string(t, row, column[METRIC])))
            return &claims[i];
    }
    return NULL;
}

static void put_row(struct exp_csv *csv, const struct exp_rank_results *x, const struct exp_table *t, size_t row,
                    const size_t column[N_WANTED], double *room)
{
    const struct claim *c = find_claim(t, row, column);
    PRINTED line = {
        .figure = exp_table_string(t, row, column[FIGURE]),
        .workload = exp_table_string(t, row, column[WORKLOAD]),
        .metric = exp_table_string(t, row, column[METRIC]),
        .printed = exp_table_string(t, row, column[VALUE]),
        .ours = "-",
        .held_out = "-",
    };

    if (c)
        say_ours(x, c, room, line.ours, line.held_out, sizeof line.ours);
    rec_put(csv, &exp_rank_printed_table, &line);
}

/* Reads the table of what papers print. */
static int read_printed(struct exp_table *t, size_t column[N_WANTED], const char *experiments_dir, struct exp_why *why)
{
    char *path = exp_format("%s/published/others.csv", experiments_dir);
    int err = path ? exp_table_read(t, path, why) : exp_fail(why, -ENOMEM, "out of memory");

    for (size_t i = 0; i < N_WANTED && !err; i++)
        err = exp_table_column(t, wanted[i], &column[i], why);
    free(path);
    return err;
}

int exp_rank_printed_write(const struct exp_rank_results *x, const struct exp_outdir *dir, struct exp_why *why)
{
    double *room = calloc(x->rank->polydl->n_layers + 1, sizeof *room);
    struct exp_table t = { 0 };
    size_t column[N_WANTED];
    struct exp_csv *csv = NULL;
    int err = room ? read_printed(&t, column, x->experiments_dir, why) : exp_fail(why, -ENOMEM, "out of memory");

    if (!err)
        err = exp_csv_create(&csv, dir, &exp_rank_printed_table.file, "what PolyDL prints, and ours", why);
    if (!err)
        exp_csv_header(csv, "run", "%s", x->run);
    for (size_t row = 0; row < t.n_rows && !err; row++) {
        if (!strcmp(exp_table_string(&t, row, column[PAPER]), "PolyDL"))
            put_row(csv, x, &t, row, column, room);
    }
    if (!err)
        err = exp_csv_close(csv, why);
    exp_table_release(&t);
    free(room);
    return err;
}
