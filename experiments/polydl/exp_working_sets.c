#include "experiments/polydl/exp_working_sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/polydl/exp_footprint.h"

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static size_t outermost_parallel(const struct exp_affine_nest *n)
{
    size_t l = 0;

    while (!n->loop[l].is_parallel)
        l++;
    return l;
}

static bool is_one_target(const struct exp_affine_nest *n, const struct exp_dependence *d)
{
    return !memcmp(d->first_target.at, d->last_target.at, n->n_loops * sizeof *d->last_target.at);
}

/* Adds the working sets of one dependence. */
static int add(struct exp_working_sets *w, const struct exp_affine_nest *n, const struct exp_dependence *d)
{
    uint64_t *to = &w->elements[w->n];
    int err;

    if (d->spans_parallel) {
        w->n++;
        return exp_footprint_within(n, outermost_parallel(n), &d->source, to);
    }
    w->n++;
    err = exp_footprint_between(n, &d->source, &d->first_target, to);
    if (err || is_one_target(n, d))
        return err;
    w->n++;
    return exp_footprint_between(n, &d->source, &d->last_target, to + 1);
}

int exp_working_sets_find(struct exp_working_sets *w, const struct exp_affine_nest *n)
{
    struct exp_dependence *d = malloc(EXP_MAX_DEPENDENCES * sizeof *d);
    int err = -ENOMEM;

    w->n = 0;
    if (d) {
        const size_t count = exp_affine_dependences(n, d, &err);

        for (size_t i = 0; i < count && !err; i++)
            err = add(w, n, &d[i]);
    }
    free(d);
    qsort(w->elements, w->n, sizeof *w->elements, by_size);
    return err;
}

struct exp_resident exp_working_sets_place(const struct exp_working_sets *w, size_t element_bytes,
                                           const struct exp_sources *s)
{
    struct exp_resident r = { { 0 } };

    for (size_t i = 0; i < w->n; i++) {
        const uint64_t bytes = w->elements[i] * element_bytes;
        size_t at = 0;

        while (at < s->n_caches && r.bytes[at] + bytes > s->source[at].bytes)
            at++;
        r.bytes[at] += bytes;
    }
    return r;
}

double exp_working_sets_cost(const struct exp_resident *r, const struct exp_sources *s)
{
    double cost = 0;

    for (size_t i = 0; i <= s->n_caches; i++)
        cost += (double)r->bytes[i] * s->source[i].latency / s->source[i].bandwidth;
    return cost;
}
