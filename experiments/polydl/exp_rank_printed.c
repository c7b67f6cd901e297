#include "experiments/polydl/exp_rank_printed.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/base/exp_table.h"
#include "experiments/polydl/exp_rank_facts.h"

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
    exp_rank_fact_fn *fact; /* NULL: all that follows */
    const char *model;      /* NULL: of all convolutions; GEMMS */
    const char *numbers;    /* places of layers; "": all of the model */
    int method, over;
    say_fn say;
};

static const struct claim claims[] = {
#define CLAIM(figure, workload, metric, model, numbers, method, over, say)                                             \
    { figure, workload, metric, NULL, model, numbers, method, over, say_##say },
#define FACT(in, about, what, says) { .figure = in, .workload = about, .metric = what, .fact = exp_rank_fact_##says },
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

static const struct exp_csv_column columns[] = {
    { "figure", "", "of PolyDL's paper", "" },
    { "workload", "", "what it is about", "" },
    { "metric", "", "what is compared", "" },
    { "printed", "", "the paper's number: 28 cores of a Xeon Platinum 8280, of a GEMM 32", "published/others.csv" },
    { "ours_held_out", "",
      "ours, where PolyDL's net is in it, of the layers that did not train it; - : the net is not in it, or was not "
      "trained",
      "clock" },
    { "ours", "",
      "ours, on one thread, of all layers; of several layers the geometric mean, of Figure 15 the mean; - : not made "
      "here",
      "clock" },
};

const struct exp_csv_file exp_rank_printed_file = EXP_CSV_FILE("printed.csv", columns);

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
    char ours[80] = "", held_out[sizeof ours] = "-";

    if (c)
        say_ours(x, c, room, ours, held_out, sizeof ours);
    exp_csv_string(csv, "figure", exp_table_string(t, row, column[FIGURE]));
    exp_csv_string(csv, "workload", exp_table_string(t, row, column[WORKLOAD]));
    exp_csv_string(csv, "metric", exp_table_string(t, row, column[METRIC]));
    exp_csv_string(csv, "printed", exp_table_string(t, row, column[VALUE]));
    exp_csv_string(csv, "ours_held_out", held_out);
    exp_csv_string(csv, "ours", c ? ours : "-");
    exp_csv_end_row(csv);
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
        err = exp_csv_create(&csv, dir, &exp_rank_printed_file, "what PolyDL prints, and ours", why);
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
