#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/text.h"
#include "experiments/bench/case/algo.h"
#include "experiments/compare/compare.h"
#include "experiments/show/layers.h"
#include "kernels/shape/problem.h"

const struct exp_compare_metric exp_compare_metrics[EXP_COMPARE_N_METRICS] = {
#define METRIC(name, measure, kind, ...) { name, measure, EXP_COMPARE_##kind, __VA_ARGS__ },
#include "experiments/compare/metrics.def"
#define MORE true
#define LESS false
#define SUMMED(name, unit, meaning, source, better, ...) { #name, M_##name, EXP_COMPARE_EXACT, better, meaning },
#include "experiments/bench/measure/measures.def"
};

static const double certain_p = 0.05;

int exp_compare_side_of(const struct exp_compare_cell *c)
{
    double better = c->metric->is_more_better ? c->b - c->a : c->a - c->b;

    if (c->metric->kind == EXP_COMPARE_TIME)
        better = c->a - c->b;
    return !c->is_certain || isnan(better) ? 0 : (better > 0) - (better < 0);
}

/* ---- pairs of rows of two runs ---- */

/* Rows of both layers.csv, and their recorded rounds. */
struct pair {
    const struct exp_layers_row *a, *b;
    struct exp_rank_pair rounds;
};

/* Returns a row of a run's layers.csv. */
static const struct exp_layers_row *row_at(const struct exp_compare_side *s, size_t row)
{
    return (const struct exp_layers_row *)s->layers.row + row;
}

/* Takes over a text from malloc. */
static void note(struct exp_two_runs *c, char *text)
{
    char **next = exp_append(&c->note, &c->n_notes, sizeof *next);

    *next = text;
}

/* Notes differences in the heads of both tables. */
static void note_heads(struct exp_two_runs *c)
{
    static const char *const keys[] = { "commit", "simulated machine", "caches at the start of a layer", "filters",
                                        "OpenBLAS that ran" };

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char a[240], b[240];

        exp_page_csv_said(&c->a.layers, keys[i], a, sizeof a);
        exp_page_csv_said(&c->b.layers, keys[i], b, sizeof b);
        if (strcmp(a, b) != 0)
            note(c, exp_format("%s differs: A has %s, B has %s", keys[i], *a ? a : "none", *b ? b : "none"));
    }
}

/* Notes metrics whose columns are missing in tables of older programs. */
static void note_columns(struct exp_two_runs *c)
{
    for (size_t i = 0; i < EXP_COMPARE_N_METRICS; i++) {
        const char *column = measure_at(exp_compare_metrics[i].measure)->name;
        bool in_a = exp_page_csv_has(&c->a.layers, column), in_b = exp_page_csv_has(&c->b.layers, column);

        if (!in_a || !in_b)
            note(c,
                 exp_format("%s is not compared: %s no column %s, another version made it", exp_compare_metrics[i].name,
                            in_a   ? "B has"
                            : in_b ? "A has"
                                   : "A and B have",
                            column));
    }
}

static bool is_alike(const struct exp_layers_row *x, const struct exp_layers_row *y)
{
    return !strcmp(x->layer, y->layer) && !strcmp(x->algo, y->algo);
}

/* Finds a row's partner: equal name, equal algorithm, equal count of the name. NULL: no partner. */
static const struct exp_layers_row *find_partner(const struct exp_compare_side *s, size_t row,
                                                 const struct exp_compare_side *other)
{
    size_t before = 0;

    for (size_t i = 0; i < row; i++)
        before += is_alike(row_at(s, i), row_at(s, row));
    for (size_t i = 0; i < other->layers.table.n_rows; i++) {
        if (is_alike(row_at(other, i), row_at(s, row)) && !before--)
            return row_at(other, i);
    }
    return NULL;
}

static void note_alone(struct exp_two_runs *c, const struct exp_compare_side *s, const struct exp_compare_side *other,
                       const char *name)
{
    size_t n = 0, first = 0;

    for (size_t i = 0; i < s->layers.table.n_rows; i++) {
        if (!find_partner(s, i, other))
            first = n++ ? first : i;
    }
    if (n)
        note(c, exp_format("%zu row%s only in %s: the first is %s with %s", n, n == 1 ? " is" : "s are", name,
                           row_at(s, first)->layer, row_at(s, first)->algo));
}

static uint64_t *rounds_of(const struct exp_compare_side *s, const struct exp_layers_row *of, size_t *n)
{
    const struct exp_sample_row *sample = s->samples.row;
    uint64_t *ns = exp_new(s->samples.table.n_rows, sizeof *ns);

    *n = 0;
    for (size_t i = 0; i < s->samples.table.n_rows; i++) {
        if (sample[i].layer_index == of->layer_index && !strcmp(sample[i].algo, of->algo))
            ns[(*n)++] = sample[i].time_ns;
    }
    return ns;
}

/* Finds the c->n_pairs pairs of equal shape, and notes the rest. */
static struct pair *find_pairs(struct exp_two_runs *c)
{
    struct pair *pairs = exp_new(c->a.layers.table.n_rows, sizeof *pairs);
    size_t n_others = 0, first = 0;

    for (size_t i = 0; i < c->a.layers.table.n_rows; i++) {
        struct pair p = { .a = row_at(&c->a, i), .b = find_partner(&c->a, i, &c->b) };

        if (!p.b)
            continue;
        if (!conv_problem_equal(&p.a->problem, &p.b->problem)) {
            first = n_others++ ? first : i;
            continue;
        }
        p.rounds.a = rounds_of(&c->a, p.a, &p.rounds.n_a);
        p.rounds.b = rounds_of(&c->b, p.b, &p.rounds.n_b);
        pairs[c->n_pairs++] = p;
        exp_algo_meet(p.a->algo);
    }
    if (n_others)
        note(c, exp_format("%zu row%s of other shapes in A and B and not compared: the first is %s", n_others,
                           n_others == 1 ? " is" : "s are", row_at(&c->a, first)->layer));
    note_alone(c, &c->a, &c->b, "A");
    note_alone(c, &c->b, &c->a, "B");
    return pairs;
}

/* ---- cells ---- */

static void set_change(struct exp_compare_cell *x)
{
    const bool is_time = x->metric->kind == EXP_COMPARE_TIME;
    const double from = is_time ? x->b : x->a, to = is_time ? x->a : x->b;

    x->change_percent = to - from == 0 ? 0 : fabs(from) > 0 ? 100 * (to / from - 1) : (double)NAN;
}

static void add(struct exp_two_runs *c, struct exp_compare_cell x)
{
    if (isnan(x.a) || isnan(x.b))
        return;
    set_change(&x);
    if (x.metric->kind == EXP_COMPARE_EXACT)
        x.is_certain = true;
    *(struct exp_compare_cell *)exp_append(&c->cell, &c->n, sizeof x) = x;
}

/* Tells whether two intervals [low, high] do not meet. */
static bool is_apart(struct exp_ratio a, struct exp_ratio b)
{
    return a.high < b.low || b.high < a.low;
}

/* Returns 1 ns over the time of an algorithm's layers among n, with the interval of the rounds of a side. */
static struct exp_ratio rate_of(const struct pair *layer, size_t n, const char *algo, bool is_b)
{
    struct exp_pair *pair = exp_new(n, sizeof *pair);
    struct exp_ratio r;
    size_t n_own = 0;

    for (const struct pair *p = layer; p < layer + n; p++) {
        if (!strcmp(p->a->algo, algo))
            pair[n_own++] = is_b ? (struct exp_pair){ NULL, p->rounds.b, p->rounds.n_b, measure_slowed(p->b->of) }
                                 : (struct exp_pair){ NULL, p->rounds.a, p->rounds.n_a, measure_slowed(p->a->of) };
    }
    r = exp_ratio_of(pair, n_own);
    free(pair);
    return r;
}

static void set_rates(struct exp_compare_cell *x, const struct pair *layer, size_t n)
{
    x->rate_a = rate_of(layer, n, x->algo, false);
    x->rate_b = rate_of(layer, n, x->algo, true);
}

static void add_layers(struct exp_two_runs *c, const struct pair *pairs, const struct exp_compare_metric *m)
{
    for (const struct pair *p = pairs; p < pairs + c->n_pairs; p++) {
        struct exp_compare_cell x = { .index = p->a->layer_index,
                                      .layer = p->a->layer,
                                      .algo = p->a->algo,
                                      .metric = m,
                                      .a = p->a->of[m->measure].number,
                                      .b = p->b->of[m->measure].number,
                                      .p = (double)NAN,
                                      .p_adjusted = (double)NAN,
                                      .rate_a = exp_ratio_none(),
                                      .rate_b = exp_ratio_none() };

        if (m->kind == EXP_COMPARE_TIME) {
            x.p = exp_rank_test(p->rounds.a, p->rounds.n_a, p->rounds.b, p->rounds.n_b);
            set_rates(&x, p, 1);
        } else if (m->kind == EXP_COMPARE_RATIO) {
            x.is_certain = is_apart(measure_speedup(p->a->of), measure_speedup(p->b->of));
        }
        add(c, x);
    }
}

/* ---- the model ---- */

/* Tests the sum over an algorithm's layers. */
static void test_model(const struct exp_two_runs *c, const struct pair *pairs, struct exp_compare_cell *x)
{
    struct exp_rank_pair *layer = exp_new(c->n_pairs, sizeof *layer);
    size_t n = 0;

    for (size_t i = 0; i < c->n_pairs; i++) {
        if (!strcmp(pairs[i].a->algo, x->algo))
            layer[n++] = pairs[i].rounds;
    }
    x->p = exp_rank_test_sum(layer, n);
    set_rates(x, pairs, c->n_pairs);
    free(layer);
}

/* Returns an algorithm's speed-up over the model; all NaN if model.csv lacks the algorithm. */
static struct exp_ratio speedup_of(const struct exp_compare_side *s, const char *algo)
{
    const struct exp_model_row *row = s->model.row;

    for (size_t i = 0; i < s->model.table.n_rows; i++) {
        if (!strcmp(row[i].algo, algo))
            return measure_speedup(row[i].of);
    }
    return exp_ratio_none();
}

/*
 * Sums a metric over an algorithm's pairs; ratios are not summed: model.csv has the ratios, for equal sets of layers.
 */
static void sum_up(const struct exp_two_runs *c, const struct pair *pairs, struct exp_compare_cell *x)
{
    if (x->metric->kind == EXP_COMPARE_RATIO) {
        const struct exp_ratio a = speedup_of(&c->a, x->algo), b = speedup_of(&c->b, x->algo);
        const bool is_whole = c->n_pairs == c->a.layers.table.n_rows && c->n_pairs == c->b.layers.table.n_rows;

        x->a = is_whole ? a.value : (double)NAN;
        x->b = is_whole ? b.value : (double)NAN;
        x->is_certain = is_apart(a, b);
        return;
    }
    for (size_t i = 0; i < c->n_pairs; i++) {
        if (strcmp(pairs[i].a->algo, x->algo) != 0)
            continue;
        x->a += pairs[i].a->of[x->metric->measure].number;
        x->b += pairs[i].b->of[x->metric->measure].number;
    }
}

static bool has_algo(const struct exp_two_runs *c, const struct pair *pairs, const char *algo)
{
    for (size_t i = 0; i < c->n_pairs; i++) {
        if (!strcmp(pairs[i].a->algo, algo))
            return true;
    }
    return false;
}

static void add_model(struct exp_two_runs *c, const struct pair *pairs, const struct exp_compare_metric *m)
{
    for (size_t k = 0; k < exp_algo_count(); k++) {
        struct exp_compare_cell x = { .layer = EXP_COMPARE_MODEL,
                                      .algo = exp_algo_at(k)->name,
                                      .metric = m,
                                      .p = (double)NAN,
                                      .p_adjusted = (double)NAN,
                                      .rate_a = exp_ratio_none(),
                                      .rate_b = exp_ratio_none() };

        if (!has_algo(c, pairs, x.algo))
            continue;
        sum_up(c, pairs, &x);
        if (m->kind == EXP_COMPARE_TIME && !isnan(x.a) && !isnan(x.b))
            test_model(c, pairs, &x);
        add(c, x);
    }
}

/* ---- many tests at once ---- */

static bool is_family(const struct exp_compare_cell *x, const struct exp_compare_cell *y)
{
    const bool is_model = !x->index;

    return x->metric == y->metric && is_model == !y->index && (is_model || !strcmp(x->algo, y->algo));
}

/* Adjusts the family of the cell `first`, the family's first cell. */
static void adjust_family(struct exp_two_runs *c, size_t first)
{
    struct exp_compare_cell **of = exp_new(c->n, sizeof(struct exp_compare_cell *));
    double *p = exp_new(c->n, sizeof *p);
    size_t n = 0;

    for (size_t i = first; i < c->n; i++) {
        if (!is_family(&c->cell[first], &c->cell[i]))
            continue;
        of[n] = &c->cell[i];
        p[n++] = c->cell[i].p;
    }
    exp_rank_adjust(p, n);
    for (size_t i = 0; i < n; i++) {
        of[i]->p_adjusted = p[i];
        of[i]->is_certain = p[i] < certain_p;
    }
    free(of);
    free(p);
}

static const char *verdict_of(const struct exp_compare_cell *x)
{
    const int side = exp_compare_side_of(x);

    return !x->is_certain ? "open" : side > 0 ? "better" : side < 0 ? "worse" : "equal";
}

/* Adjusts all tests, and judges each cell. */
static void judge(struct exp_two_runs *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct exp_compare_cell *x = &c->cell[i];

        if (x->metric->kind == EXP_COMPARE_TIME && !isnan(x->p) && isnan(x->p_adjusted))
            adjust_family(c, i);
        x->metric_name = x->metric->name;
        x->b_is = verdict_of(x);
        x->why_no_p =
            x->metric->kind == EXP_COMPARE_TIME ? "one of the runs has no rounds in samples.csv" : REC_DOES_NOT_APPLY;
    }
}

/* ---- the whole ---- */

static bool has(const struct exp_compare_side *s, size_t member)
{
    return s->layers.table.n_rows && rec_has(&s->layers.table, rec_field_of(&exp_layers_table, member));
}

/* Refuses a folder, and names a folder of results with an equal end. */
static int say_no_results(const char *path, struct exp_why *why)
{
    static const char *const places[] = { "results/%s", "results/host/%s" };
    char *meant = NULL;

    for (size_t i = 0; i < sizeof places / sizeof places[0] && !meant; i++) {
        char *folder = exp_format(places[i], path), *file = exp_format("%s/%s", folder, exp_layers_table.file.name);

        meant = access(file, R_OK) ? NULL : exp_copy_text(folder);
        free(folder);
        free(file);
    }
    exp_fail(why, -ENOENT, "'%s' has no results of 'make experiment': no layers.csv with layers and algorithms; %s%s",
             path, meant ? "did you mean " : "give the folder of one model, such as ",
             meant ? meant : "results/host/vgg16");
    free(meant);
    return -ENOENT;
}

static int read_layers(struct exp_compare_side *s, struct exp_why *why)
{
    int err = exp_page_csv_read(&s->layers, s->path, exp_layers_table.file.name, why);

    if (err)
        return err == -ENOTDIR ? exp_fail(why, err, "'%s' is a file; give the folder that holds layers.csv", s->path)
                               : err;
    if (!has(s, offsetof(struct exp_layers_row, layer_index)) || !has(s, offsetof(struct exp_layers_row, algo)))
        return say_no_results(s->path, why);
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

int exp_two_runs_compare(struct exp_two_runs *c, const char *a, const char *b, struct exp_why *why)
{
    struct pair *pairs;
    int err;

    *c = (struct exp_two_runs){ 0 };
    err = read_side(&c->a, a, why);
    err = err ? err : read_side(&c->b, b, why);
    if (err)
        return err;
    pairs = find_pairs(c);
    if (!c->n_pairs)
        err = exp_fail(why, -EINVAL, "nothing to compare: no layer of '%s' is in '%s' with its shape and algorithm", a,
                       b);
    note_heads(c);
    note_columns(c);
    for (size_t m = 0; m < EXP_COMPARE_N_METRICS; m++)
        add_model(c, pairs, &exp_compare_metrics[m]);
    for (size_t m = 0; m < EXP_COMPARE_N_METRICS; m++)
        add_layers(c, pairs, &exp_compare_metrics[m]);
    judge(c);
    exp_compare_choose_sections(c);
    for (size_t i = 0; i < c->n_pairs; i++) {
        free((uint64_t *)pairs[i].rounds.a);
        free((uint64_t *)pairs[i].rounds.b);
    }
    free(pairs);
    return err;
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
    free(c->section);
    release_side(&c->a);
    release_side(&c->b);
    *c = (struct exp_two_runs){ 0 };
}
