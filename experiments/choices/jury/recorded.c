/* Times of an earlier run, from the jury.csv of the run: the judged simulation may change, the times stay. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/choices/jury/jury.h"

#define MOST_GHZ 10

static int by_layer_and_algo(const void *a, const void *b)
{
    const struct exp_jury_row *const *x = a, *const *y = b;
    const int layers = strcmp((*x)->layer, (*y)->layer);

    return layers ? layers : strcmp((*x)->algo, (*y)->algo);
}

/* Returns what is wrong with a row's numbers; NULL: nothing. A missing time is right. */
static const char *why_no_time(const struct exp_jury_row *r)
{
    if (r->time_ns.why)
        return NULL;
    if (!(r->time_ns.number > 0))
        return "time_ns: must be above 0";
    if (!r->ghz.why && !(r->ghz.number > 0 && r->ghz.number < MOST_GHZ))
        return "ghz: must be above 0 and below 10";
    return NULL;
}

/* Tells whether a row is of a layer's shape. */
static bool is_same_shape(const struct exp_jury_row *r, const struct conv_problem *p)
{
    const uint64_t row[] = { r->batch,      r->c,        r->h,         r->w,          r->k,          r->r,
                             r->s,          r->stride_h, r->stride_w,  r->dilation_h, r->dilation_w, r->pad_top,
                             r->pad_bottom, r->pad_left, r->pad_right, r->groups };
    const uint64_t own[] = { p->n,          p->c,        p->h,         p->w,          p->k,          p->r,
                             p->s,          p->stride_h, p->stride_w,  p->dilation_h, p->dilation_w, p->pad_top,
                             p->pad_bottom, p->pad_left, p->pad_right, p->groups };

    _Static_assert(sizeof row == sizeof own, "the same sizes");
    return !memcmp(row, own, sizeof row);
}

/* Reads rows, whose numbers must make sense. */
static int read_rows(struct exp_jury_times *t, const char *path, struct exp_why *why)
{
    const size_t needed[] = {
        offsetof(struct exp_jury_row, layer),      offsetof(struct exp_jury_row, algo),
        offsetof(struct exp_jury_row, batch),      offsetof(struct exp_jury_row, c),
        offsetof(struct exp_jury_row, h),          offsetof(struct exp_jury_row, w),
        offsetof(struct exp_jury_row, k),          offsetof(struct exp_jury_row, r),
        offsetof(struct exp_jury_row, s),          offsetof(struct exp_jury_row, stride_h),
        offsetof(struct exp_jury_row, stride_w),   offsetof(struct exp_jury_row, dilation_h),
        offsetof(struct exp_jury_row, dilation_w), offsetof(struct exp_jury_row, pad_top),
        offsetof(struct exp_jury_row, pad_bottom), offsetof(struct exp_jury_row, pad_left),
        offsetof(struct exp_jury_row, pad_right),  offsetof(struct exp_jury_row, groups),
        offsetof(struct exp_jury_row, time_ns),    offsetof(struct exp_jury_row, rounds),
        offsetof(struct exp_jury_row, speedup),    offsetof(struct exp_jury_row, low),
        offsetof(struct exp_jury_row, high),       offsetof(struct exp_jury_row, ghz),
    };
    int err = rec_read_some(&t->rows, &exp_jury_table, path, needed, sizeof needed / sizeof *needed, why);
    const struct exp_jury_row *row = t->rows.row;

    for (size_t i = 0; i < t->rows.n && !err; i++) {
        const char *wrong = why_no_time(&row[i]);

        if (wrong)
            err = exp_fail(why, -EINVAL, "%s:%u: %s", path, t->rows.table.line[i], wrong);
    }
    return err;
}

/* Sorts the rows; no two rows have the layer and the algorithm in common. */
static int sort_rows(struct exp_jury_times *t, const char *path, struct exp_why *why)
{
    const struct exp_jury_row *row = t->rows.row;

    t->sorted = exp_new(t->rows.n + 1, sizeof *t->sorted);
    for (size_t i = 0; i < t->rows.n; i++)
        t->sorted[i] = &row[i];
    if (t->rows.n)
        qsort(t->sorted, t->rows.n, sizeof *t->sorted, by_layer_and_algo);
    for (size_t i = 1; i < t->rows.n; i++) {
        if (!by_layer_and_algo(&t->sorted[i - 1], &t->sorted[i]))
            return exp_fail(why, -EINVAL, "%s: layer '%s' has two rows of %s", path, t->sorted[i]->layer,
                            t->sorted[i]->algo);
    }
    return 0;
}

/* Finds a row; NULL: there is none. */
static const struct exp_jury_row *find(const struct exp_jury_times *t, const char *layer, const char *algo)
{
    const struct exp_jury_row key = { .layer = layer, .algo = algo }, *of = &key;
    const struct exp_jury_row **found =
        t->rows.n ? bsearch(&of, t->sorted, t->rows.n, sizeof *t->sorted, by_layer_and_algo) : NULL;

    return found ? *found : NULL;
}

int exp_jury_read_times(struct exp_jury_times *t, const char *path, const struct exp_model *m, struct exp_why *why)
{
    int err = read_rows(t, path, why);

    err = err ? err : sort_rows(t, path, why);
    for (size_t i = 0; i < m->n_layers && !err; i++) {
        for (size_t a = 0; a < exp_algo_count() && !err; a++) {
            const struct exp_jury_row *r = find(t, m->layer[i].name, exp_algo_at(a)->name);

            if (r && !is_same_shape(r, &m->layer[i].problem))
                err = exp_fail(why, -EINVAL, "%s: layer '%s' has other sizes than in TABLES", path, r->layer);
        }
    }
    return err;
}

void exp_jury_release_times(struct exp_jury_times *t)
{
    free(t->sorted);
    rec_release(&t->rows);
    *t = (struct exp_jury_times){ 0 };
}

/* Returns a number, NaN if missing. */
static double number_of(struct value v)
{
    return v.why ? (double)NAN : v.number;
}

static void take(struct exp_jury_case *c, const struct exp_jury_row *r)
{
    c->why_untimed = r->time_ns.why;
    c->ns = number_of(r->time_ns);
    c->ghz = r->ghz.why ? 0 : r->ghz.number;
    c->n_rounds = r->rounds.why ? 0 : (uint64_t)r->rounds.number;
    c->speedup = exp_ratio_none();
    c->speedup.value = number_of(r->speedup);
    c->speedup.low = number_of(r->low);
    c->speedup.high = number_of(r->high);
}

void exp_jury_take_times(struct exp_jury *j)
{
    for (size_t i = 0; i < j->n_judged; i++) {
        const struct exp_jury_layer *l = &j->layer[j->order[i]];

        for (size_t a = 0; a < j->n_algos; a++) {
            const struct exp_jury_row *r = find(&j->times, l->layer->name, l->by[a].algo->name);

            l->by[a].why_untimed = "TIMES has no row of it";
            if (r)
                take(&l->by[a], r);
        }
    }
}
