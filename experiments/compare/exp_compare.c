#include "experiments/compare/exp_compare.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/compare/exp_rank_test.h"
#include "experiments/report/exp_layers.h"
#include "experiments/setup/exp_algo.h"
#include "kernels/shape/problem.h"

/* ---- which rows of two runs belong together, and what does not ---- */

/* Rows of both layers.csv. */
struct exp_compare_pair {
    size_t a, b;
};

/* Returns a row of a run's layers.csv. */
static const struct exp_layers_row *exp_compare_row(const struct exp_compare_side *s, size_t row)
{
    return (const struct exp_layers_row *)s->layers.row + row;
}

/* ---- notes ---- */

static int note(struct exp_two_runs *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int note(struct exp_two_runs *c, const char *format, ...)
{
    char **more = realloc(c->note, (c->n_notes + 1) * sizeof *more);
    char text[640];
    va_list args;

    if (!more)
        return -ENOMEM;
    c->note = more;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->note[c->n_notes] = strdup(text);
    return c->note[c->n_notes] ? (c->n_notes++, 0) : -ENOMEM;
}

/* Notes what the heads of both tables say of how they were made. */
/* Note how the runs were made differently; which metrics other versions do not have. Return 0 or -ENOMEM. */
static int exp_compare_note_heads(struct exp_two_runs *c)
{
    static const char *const keys[] = { "commit", "simulated machine", "caches at the start of a layer", "filters",
                                        "OpenBLAS that ran" };
    int err = 0;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !err; i++) {
        char a[240], b[240];

        exp_page_csv_said(&c->a.layers, keys[i], a, sizeof a);
        exp_page_csv_said(&c->b.layers, keys[i], b, sizeof b);
        if (strcmp(a, b) != 0)
            err = note(c, "%s differs: A has %s, B has %s", keys[i], *a ? a : "none", *b ? b : "none");
    }
    return err;
}

/* Other versions of the program write other columns. */
/* Note how the runs were made differently; which metrics other versions do not have. Return 0 or -ENOMEM. */
static int exp_compare_note_columns(struct exp_two_runs *c)
{
    int err = 0;

    for (size_t i = 0; i < exp_compare_n_metrics() && !err; i++) {
        const struct rec_field *f = exp_compare_field(exp_compare_metric_at(i));
        bool in_a = rec_has(&c->a.layers.table, f), in_b = rec_has(&c->b.layers.table, f);

        if (!in_a || !in_b)
            err = note(c, "%s is not compared: %s has no column %s, another version made it",
                       exp_compare_metric_at(i)->name,
                       in_a   ? "B"
                       : in_b ? "A"
                              : "neither",
                       f->column.name);
    }
    return err;
}

/* ---- pairs ---- */

static bool is_alike(const struct exp_compare_side *s, size_t row, const struct exp_compare_side *other, size_t of)
{
    const struct exp_layers_row *x = exp_compare_row(s, row), *y = exp_compare_row(other, of);

    return !strcmp(x->layer, y->layer) && !strcmp(x->algo, y->algo);
}

/* Counts the rows before one that have its layer's name and its algorithm. */
static size_t count_before(const struct exp_compare_side *s, size_t row)
{
    size_t n = 0;

    for (size_t i = 0; i < row; i++)
        n += is_alike(s, i, s, row);
    return n;
}

/* Finds a row's partner: the same name and algorithm, for the same time. Returns the number of rows if there is none. */
static size_t find_partner(const struct exp_compare_side *s, size_t row, const struct exp_compare_side *other)
{
    size_t before = count_before(s, row), i = 0;

    for (; i < other->layers.table.n_rows; i++) {
        if (is_alike(other, i, s, row) && !before--)
            break;
    }
    return i;
}

static bool is_same_shape(const struct exp_two_runs *c, const struct exp_compare_pair *p)
{
    return conv_problem_equal(&exp_compare_row(&c->a, p->a)->problem, &exp_compare_row(&c->b, p->b)->problem);
}

static int note_alone(struct exp_two_runs *c, const struct exp_compare_side *s, const struct exp_compare_side *other,
                      const char *name)
{
    size_t n = 0, first = 0;

    for (size_t i = 0; i < s->layers.table.n_rows; i++) {
        if (find_partner(s, i, other) < other->layers.table.n_rows)
            continue;
        first = n++ ? first : i;
    }
    return n ? note(c, "%zu row%s only in %s: the first is %s with %s", n, n == 1 ? " is" : "s are", name,
                    exp_compare_row(s, first)->layer, exp_compare_row(s, first)->algo)
             : 0;
}

/* Finds all pairs of equal shape; from malloc. */
/* Finds the pairs of equal shape, c->n_pairs of them, from malloc, and notes the rest. Returns 0 or -ENOMEM. */
static int exp_compare_find_pairs(struct exp_two_runs *c, struct exp_compare_pair **pairs)
{
    size_t n_others = 0, first = 0;
    int err;

    *pairs = calloc(c->a.layers.table.n_rows + 1, sizeof **pairs);
    if (!*pairs)
        return -ENOMEM;
    for (size_t i = 0; i < c->a.layers.table.n_rows; i++) {
        struct exp_compare_pair p = { i, find_partner(&c->a, i, &c->b) };

        if (p.b == c->b.layers.table.n_rows)
            continue;
        if (is_same_shape(c, &p))
            (*pairs)[c->n_pairs++] = p;
        else
            first = n_others++ ? first : i;
    }
    err = n_others ? note(c, "%zu row%s of other shapes in A and B and not compared: the first is %s", n_others,
                          n_others == 1 ? " is" : "s are", exp_compare_row(&c->a, first)->layer)
                   : 0;
    err = err ? err : note_alone(c, &c->a, &c->b, "A");
    return err ? err : note_alone(c, &c->b, &c->a, "B");
}

#define TIME EXP_COMPARE_TIME
#define RATIO EXP_COMPARE_RATIO
#define EXACT EXP_COMPARE_EXACT
#define METRIC(name, member, ...) { name, offsetof(struct exp_layers_row, member), __VA_ARGS__ },

static const struct exp_compare_metric metrics[] = {
#include "experiments/compare/metrics.def"
};

size_t exp_compare_n_metrics(void)
{
    return sizeof metrics / sizeof metrics[0];
}

const struct exp_compare_metric *exp_compare_metric_at(size_t i)
{
    return &metrics[i];
}

const struct rec_field *exp_compare_field(const struct exp_compare_metric *m)
{
    return rec_field_of(&exp_layers_table, m->member);
}

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
    const struct exp_layers_row *of = exp_compare_row(s, row);
    const struct exp_sample_row *sample = s->samples.row;
    const size_t n_rows = s->samples.table.n_rows;
    struct rounds r = { calloc(n_rows + 1, sizeof *r.ns), 0 };

    for (size_t i = 0; r.ns && i < n_rows; i++) {
        if (sample[i].layer_index == of->layer_index && !strcmp(sample[i].algo, of->algo))
            r.ns[r.n++] = sample[i].time_ns;
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

/* Tells whether two intervals [low, high] do not meet. */
static bool is_apart(const struct exp_ratio *a, const struct exp_ratio *b)
{
    return a->high < b->low || b->high < a->low;
}

/* Returns a row's number; NaN if the file does not have it. */
static double number(const struct exp_compare_side *s, size_t row, const struct exp_compare_metric *m)
{
    const struct rec_field *f = exp_compare_field(m);

    return rec_has(&s->layers.table, f) ? rec_number(f, exp_compare_row(s, row)) : (double)NAN;
}

static struct exp_compare_cell layer_cell(const struct exp_two_runs *c, const struct exp_compare_pair *p,
                                          const struct exp_compare_metric *m)
{
    const struct exp_layers_row *a = exp_compare_row(&c->a, p->a);

    return (struct exp_compare_cell){ .index = a->layer_index,
                                      .layer = a->layer,
                                      .algo = a->algo,
                                      .metric = m,
                                      .a = number(&c->a, p->a, m),
                                      .b = number(&c->b, p->b, m),
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
            x.is_certain = is_apart(&exp_compare_row(&c->a, p[i].a)->speedup, &exp_compare_row(&c->b, p[i].b)->speedup);
        add(c, x);
    }
}

/* ---- the model ---- */

static bool is_of(const struct exp_two_runs *c, const struct exp_compare_pair *p, const char *algo)
{
    return !strcmp(exp_compare_row(&c->a, p->a)->algo, algo);
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

/* Returns an algorithm's speed-up over the model; all NaN if model.csv does not have it. */
static struct exp_ratio speedup_of(const struct exp_compare_side *s, const char *algo)
{
    const struct exp_model_row *row = s->model.row;

    for (size_t i = 0; i < s->model.table.n_rows; i++) {
        if (!strcmp(row[i].total.algo, algo))
            return row[i].total.speedup;
    }
    return exp_ratio_none();
}

/* Sums a metric over an algorithm's pairs; ratios are not summed: model.csv has them, for equal sets of layers. */
static void sum_up(const struct exp_two_runs *c, const struct exp_compare_pair *p, struct exp_compare_cell *x)
{
    if (x->metric->kind == RATIO) {
        const struct exp_ratio a = speedup_of(&c->a, x->algo), b = speedup_of(&c->b, x->algo);
        const bool is_whole = c->n_pairs == c->a.layers.table.n_rows && c->n_pairs == c->b.layers.table.n_rows;

        x->a = is_whole ? a.value : (double)NAN;
        x->b = is_whole ? b.value : (double)NAN;
        x->is_certain = is_apart(&a, &b);
        return;
    }
    x->a = x->b = 0;
    for (size_t i = 0; i < c->n_pairs; i++) {
        if (!is_of(c, &p[i], x->algo))
            continue;
        x->a += number(&c->a, p[i].a, x->metric);
        x->b += number(&c->b, p[i].b, x->metric);
    }
}

static void add_model(struct exp_two_runs *c, const struct exp_compare_pair *p, const struct all_rounds *r,
                      const struct exp_compare_metric *m)
{
    for (size_t k = 0; k < EXP_N_ALGOS; k++) {
        struct exp_compare_cell x = { .layer = EXP_COMPARE_MODEL, .algo = exp_algo_at(k)->name, .metric = m };
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
    const bool is_model = !x->index;

    return x->metric == y->metric && is_model == !y->index && (is_model || !strcmp(x->algo, y->algo));
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

static bool has(const struct exp_compare_side *s, size_t member)
{
    return s->layers.table.n_rows && rec_has(&s->layers.table, rec_field_of(&exp_layers_table, member));
}

static int read_layers(struct exp_compare_side *s, struct exp_why *why)
{
    int err = exp_page_csv_read(&s->layers, s->path, exp_layers_table.file.name, why);

    if (err)
        return err;
    if (!has(s, offsetof(struct exp_layers_row, layer_index)) || !has(s, offsetof(struct exp_layers_row, algo)))
        return exp_fail(
            why, -ENOENT,
            "'%s' has no results of 'make experiment': no layers.csv with layers and algorithms; give the folder "
            "of one model, such as results/host/vgg16",
            s->path);
    return rec_rows_of(&s->layers.row, &exp_layers_table, &s->layers.table, why);
}

static int read_side(struct exp_compare_side *s, const char *path, struct exp_why *why)
{
    int err;

    s->path = path;
    err = read_layers(s, why);
    if (!err)
        err = exp_page_csv_read_rows(&s->model, path, &exp_model_table, why);
    return err ? err : exp_page_csv_read_rows(&s->samples, path, &exp_samples_table, why);
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

int exp_two_runs_compare(struct exp_two_runs *c, const char *a, const char *b, struct exp_why *why)
{
    struct exp_compare_pair *pairs = NULL;
    struct all_rounds rounds = { NULL, NULL };
    int err;

    *c = (struct exp_two_runs){ 0 };
    err = read_side(&c->a, a, why);
    err = err ? err : read_side(&c->b, b, why);
    if (err)
        return err;
    err = exp_compare_find_pairs(c, &pairs);
    if (!err && !c->n_pairs)
        err = exp_fail(why, -EINVAL, "nothing to compare: no layer of '%s' is in '%s' with its shape and algorithm", a,
                       b);
    err = err ? err : exp_compare_note_heads(c);
    err = err ? err : exp_compare_note_columns(c);
    err = err ? err : read_rounds(&rounds, c, pairs);
    err = err ? err : fill(c, pairs, &rounds);
    release_rounds(&rounds, c->n_pairs);
    free(pairs);
    return err == -ENOMEM ? exp_fail(why, err, "out of memory") : err;
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
