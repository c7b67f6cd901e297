#include "experiments/compare/exp_compare.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/compare/exp_compare_pairs.h"
#include "experiments/compare/exp_rank_test.h"
#include "experiments/setup/exp_algo.h"

static const double certain_p = 0.05;

#define TIME EXP_COMPARE_TIME
#define RATIO EXP_COMPARE_RATIO
#define EXACT EXP_COMPARE_EXACT
int exp_compare_side_of(const struct exp_compare_cell *c)
{
    double better = c->metric->is_more_better ? c->b - c->a : c->a - c->b;

    if (c->metric->kind == TIME)
        better = c->a - c->b;
    return !c->is_certain || isnan(better) ? 0 : (better > 0) - (better < 0);
}

/* ---- rounds ---- */

struct rounds {
    uint64_t *ns;
    size_t n;
};

static struct rounds rounds_of(const struct exp_compare_side *s, size_t row)
{
    const char *index = exp_compare_text(s, row, "layer_index"), *algo = exp_compare_text(s, row, "algo");
    const size_t n_rows = s->samples.table.n_rows;
    struct rounds r = { calloc(n_rows + 1, sizeof *r.ns), 0 };

    for (size_t i = 0; r.ns && i < n_rows; i++) {
        double ns;

        if (strcmp(exp_page_csv_cell(&s->samples, i, "layer_index"), index) != 0 ||
            strcmp(exp_page_csv_cell(&s->samples, i, "algo"), algo) != 0)
            continue;
        ns = exp_page_csv_number(&s->samples, i, "time_ns");
        if (ns >= 0 && ns < 1e18)
            r.ns[r.n++] = (uint64_t)ns;
    }
    return r;
}

/* Both sides' rounds of every pair. */
struct all_rounds {
    struct rounds *a, *b;
};

static void release_rounds(struct all_rounds *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (r->a)
            free(r->a[i].ns);
        if (r->b)
            free(r->b[i].ns);
    }
    free(r->a);
    free(r->b);
}

static int read_rounds(struct all_rounds *r, const struct exp_two_runs *c, const struct exp_compare_pair *p)
{
    *r = (struct all_rounds){ calloc(c->n_pairs + 1, sizeof *r->a), calloc(c->n_pairs + 1, sizeof *r->b) };
    if (!r->a || !r->b)
        return -ENOMEM;
    for (size_t i = 0; i < c->n_pairs; i++) {
        r->a[i] = rounds_of(&c->a, p[i].a);
        r->b[i] = rounds_of(&c->b, p[i].b);
        if (!r->a[i].ns || !r->b[i].ns)
            return -ENOMEM;
    }
    return 0;
}

/* ---- cells ---- */

static void set_change(struct exp_compare_cell *x)
{
    const bool is_time = x->metric->kind == TIME;
    const double from = is_time ? x->b : x->a, to = is_time ? x->a : x->b;

    x->change_percent = to - from == 0 ? 0 : fabs(from) > 0 ? 100 * (to / from - 1) : (double)NAN;
}

static void add(struct exp_two_runs *c, struct exp_compare_cell x)
{
    if (isnan(x.a) || isnan(x.b))
        return;
    set_change(&x);
    if (x.metric->kind == EXACT)
        x.is_certain = true;
    c->cell[c->n++] = x;
}

/* Tells whether intervals [low, high] of two rows do not meet. */
static bool is_apart(const struct exp_page_csv *a, size_t row_a, const struct exp_page_csv *b, size_t row_b)
{
    const char *const low = "measured_speedup_low", *const high = "measured_speedup_high";

    return exp_page_csv_number(a, row_a, high) < exp_page_csv_number(b, row_b, low) ||
           exp_page_csv_number(b, row_b, high) < exp_page_csv_number(a, row_a, low);
}

static struct exp_compare_cell layer_cell(const struct exp_two_runs *c, const struct exp_compare_pair *p,
                                          const struct exp_compare_metric *m)
{
    return (struct exp_compare_cell){ .layer = exp_compare_text(&c->a, p->a, "layer"),
                                      .index = exp_compare_text(&c->a, p->a, "layer_index"),
                                      .algo = exp_compare_text(&c->a, p->a, "algo"),
                                      .metric = m,
                                      .a = exp_page_csv_number(&c->a.layers, p->a, m->column),
                                      .b = exp_page_csv_number(&c->b.layers, p->b, m->column),
                                      .p = (double)NAN,
                                      .p_adjusted = (double)NAN };
}

static void add_layers(struct exp_two_runs *c, const struct exp_compare_pair *p, const struct all_rounds *r,
                       const struct exp_compare_metric *m)
{
    for (size_t i = 0; i < c->n_pairs; i++) {
        struct exp_compare_cell x = layer_cell(c, &p[i], m);

        if (m->kind == TIME)
            x.p = exp_rank_test(r->a[i].ns, r->a[i].n, r->b[i].ns, r->b[i].n);
        else if (m->kind == RATIO)
            x.is_certain = is_apart(&c->a.layers, p[i].a, &c->b.layers, p[i].b);
        add(c, x);
    }
}

/* ---- the model ---- */

static bool is_of(const struct exp_two_runs *c, const struct exp_compare_pair *p, const char *algo)
{
    return !strcmp(exp_compare_text(&c->a, p->a, "algo"), algo);
}

/* Tests the sum over an algorithm's layers. */
static double test_model(const struct exp_two_runs *c, const struct exp_compare_pair *p, const struct all_rounds *r,
                         const char *algo)
{
    struct exp_rank_pair *layer = calloc(c->n_pairs + 1, sizeof *layer);
    size_t n = 0;
    double value = (double)NAN;

    for (size_t i = 0; layer && i < c->n_pairs; i++) {
        if (is_of(c, &p[i], algo))
            layer[n++] = (struct exp_rank_pair){ r->a[i].ns, r->b[i].ns, r->a[i].n, r->b[i].n };
    }
    if (layer)
        value = exp_rank_test_sum(layer, n);
    free(layer);
    return value;
}

/* Sums a metric over an algorithm's pairs; ratios are not summed: model.csv has them, for equal sets of layers. */
static void sum_up(const struct exp_two_runs *c, const struct exp_compare_pair *p, struct exp_compare_cell *x)
{
    const size_t a = exp_page_csv_find(&c->a.model, "algo", x->algo),
                 b = exp_page_csv_find(&c->b.model, "algo", x->algo);

    if (x->metric->kind == RATIO) {
        const bool is_whole = c->n_pairs == c->a.layers.table.n_rows && c->n_pairs == c->b.layers.table.n_rows;

        x->a = is_whole ? exp_page_csv_number(&c->a.model, a, x->metric->column) : (double)NAN;
        x->b = is_whole ? exp_page_csv_number(&c->b.model, b, x->metric->column) : (double)NAN;
        x->is_certain = is_apart(&c->a.model, a, &c->b.model, b);
        return;
    }
    x->a = x->b = 0;
    for (size_t i = 0; i < c->n_pairs; i++) {
        if (!is_of(c, &p[i], x->algo))
            continue;
        x->a += exp_page_csv_number(&c->a.layers, p[i].a, x->metric->column);
        x->b += exp_page_csv_number(&c->b.layers, p[i].b, x->metric->column);
    }
}

static void add_model(struct exp_two_runs *c, const struct exp_compare_pair *p, const struct all_rounds *r,
                      const struct exp_compare_metric *m)
{
    for (size_t k = 0; k < EXP_N_ALGOS; k++) {
        struct exp_compare_cell x = {
            .layer = EXP_COMPARE_MODEL, .index = "0", .algo = exp_algo_at(k)->name, .metric = m
        };
        bool any = false;

        for (size_t i = 0; i < c->n_pairs; i++)
            any = any || is_of(c, &p[i], x.algo);
        if (!any)
            continue;
        sum_up(c, p, &x);
        x.p = m->kind == TIME && !isnan(x.a) && !isnan(x.b) ? test_model(c, p, r, x.algo) : (double)NAN;
        x.p_adjusted = (double)NAN;
        add(c, x);
    }
}

/* ---- many tests at once ---- */

static bool is_family(const struct exp_compare_cell *x, const struct exp_compare_cell *y)
{
    const bool is_model = !strcmp(x->index, "0");

    return x->metric == y->metric && is_model == !strcmp(y->index, "0") && (is_model || !strcmp(x->algo, y->algo));
}

/* Adjusts the family of the cell `first`, of which none was adjusted before. */
static int adjust_family(struct exp_two_runs *c, size_t first)
{
    double *p = calloc(c->n, sizeof *p);
    size_t n = 0;

    if (!p)
        return -ENOMEM;
    for (size_t i = first; i < c->n; i++) {
        if (is_family(&c->cell[first], &c->cell[i]))
            p[n++] = c->cell[i].p;
    }
    exp_rank_adjust(p, n);
    n = 0;
    for (size_t i = first; i < c->n; i++) {
        if (!is_family(&c->cell[first], &c->cell[i]))
            continue;
        c->cell[i].p_adjusted = p[n++];
        c->cell[i].is_certain = c->cell[i].p_adjusted < certain_p;
    }
    free(p);
    return 0;
}

static int adjust(struct exp_two_runs *c)
{
    int err = 0;

    for (size_t i = 0; i < c->n && !err; i++) {
        if (c->cell[i].metric->kind == TIME && !isnan(c->cell[i].p) && isnan(c->cell[i].p_adjusted))
            err = adjust_family(c, i);
    }
    return err;
}

/* ---- the whole ---- */

static int read_side(struct exp_compare_side *s, const char *path, char *why, size_t why_bytes)
{
    int err;

    s->path = path;
    err = exp_page_csv_read(&s->layers, path, "layers.csv", why, why_bytes);
    if (!err)
        err = exp_page_csv_read(&s->model, path, "model.csv", why, why_bytes);
    if (!err)
        err = exp_page_csv_read(&s->samples, path, "samples.csv", why, why_bytes);
    if (!err &&
        (!s->layers.table.n_rows || !*exp_compare_text(s, 0, "layer_index") || !*exp_compare_text(s, 0, "algo")))
        err = exp_fail(
            why, why_bytes, -ENOENT,
            "'%s' has no results of 'make experiment': no layers.csv with layers and algorithms; give the folder "
            "of one model, such as results/host/vgg16",
            path);
    return err;
}

static int fill(struct exp_two_runs *c, const struct exp_compare_pair *p, const struct all_rounds *r)
{
    c->cell = calloc((c->n_pairs + EXP_N_ALGOS) * exp_compare_n_metrics() + 1, sizeof *c->cell);
    if (!c->cell)
        return -ENOMEM;
    for (size_t m = 0; m < exp_compare_n_metrics(); m++)
        add_model(c, p, r, exp_compare_metric_at(m));
    for (size_t m = 0; m < exp_compare_n_metrics(); m++)
        add_layers(c, p, r, exp_compare_metric_at(m));
    return adjust(c);
}

int exp_two_runs_compare(struct exp_two_runs *c, const char *a, const char *b, char *why, size_t why_bytes)
{
    struct exp_compare_pair *pairs = NULL;
    struct all_rounds rounds = { NULL, NULL };
    int err;

    *c = (struct exp_two_runs){ 0 };
    err = read_side(&c->a, a, why, why_bytes);
    err = err ? err : read_side(&c->b, b, why, why_bytes);
    if (err)
        return err;
    err = exp_compare_find_pairs(c, &pairs);
    if (!err && !c->n_pairs)
        err = exp_fail(why, why_bytes, -EINVAL,
                       "nothing to compare: no layer of '%s' is in '%s' with its shape and algorithm", a, b);
    err = err ? err : exp_compare_note_heads(c);
    err = err ? err : exp_compare_note_columns(c);
    err = err ? err : read_rounds(&rounds, c, pairs);
    err = err ? err : fill(c, pairs, &rounds);
    release_rounds(&rounds, c->n_pairs);
    free(pairs);
    return err == -ENOMEM ? exp_fail(why, why_bytes, err, "out of memory") : err;
}

static void release_side(struct exp_compare_side *s)
{
    exp_page_csv_release(&s->layers);
    exp_page_csv_release(&s->model);
    exp_page_csv_release(&s->samples);
}

void exp_two_runs_release(struct exp_two_runs *c)
{
    for (size_t i = 0; i < c->n_notes; i++)
        free(c->note[i]);
    free(c->note);
    free(c->cell);
    release_side(&c->a);
    release_side(&c->b);
    *c = (struct exp_two_runs){ 0 };
}
