#include "experiments/polydl/exp_affine.h"

#include <errno.h>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a nest in isl's words ---- */

/* A text that grows. */
struct words {
    char text[4096];
    size_t used;
};

static void put(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct words *w, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(w->text + w->used, sizeof w->text - w->used, format, args);
    va_end(args);
    if (n > 0)
        w->used += (size_t)n < sizeof w->text - w->used ? (size_t)n : sizeof w->text - 1 - w->used;
}

/* Puts a tuple of iterators, S[i0,i1,...]; prefix tells those of a target from those of a source. */
static void put_iterators(struct words *w, const struct exp_affine_nest *n, char prefix)
{
    put(w, "S[");
    for (size_t l = 0; l < n->n_loops; l++)
        put(w, "%s%c%zu", l ? "," : "", prefix, l);
    put(w, "]");
}

static isl_set *domain(isl_ctx *ctx, const struct exp_affine_nest *n)
{
    struct words w = { .used = 0 };

    put(&w, "{ ");
    put_iterators(&w, n, 'i');
    for (size_t l = 0; l < n->n_loops; l++)
        put(&w, "%s 0 <= i%zu < %ju", l ? " and" : " :", l, (uintmax_t)n->loop[l].extent);
    put(&w, " }");
    return isl_set_read_from_str(ctx, w.text);
}

/* Makes the map from iterations to the elements of an access. */
static isl_map *access_map(isl_ctx *ctx, const struct exp_affine_nest *n, const struct exp_affine_access *a)
{
    struct words w = { .used = 0 };

    put(&w, "{ ");
    put_iterators(&w, n, 'i');
    put(&w, " -> %s[", a->array);
    for (size_t d = 0; d < a->n_dims; d++) {
        put(&w, "%s%ju", d ? "," : "", (uintmax_t)a->dim[d].first);
        for (size_t l = 0; l < n->n_loops; l++) {
            if (a->dim[d].step[l])
                put(&w, " + %ju i%zu", (uintmax_t)a->dim[d].step[l], l);
        }
    }
    put(&w, "] }");
    return isl_map_read_from_str(ctx, w.text);
}

/* Makes the pairs of iterations that differ first in a loop, where the second is later. */
static isl_map *carried_by(isl_ctx *ctx, const struct exp_affine_nest *n, size_t loop)
{
    struct words w = { .used = 0 };

    put(&w, "{ ");
    put_iterators(&w, n, 'i');
    put(&w, " -> ");
    put_iterators(&w, n, 'j');
    for (size_t l = 0; l < loop; l++)
        put(&w, "%s i%zu = j%zu", l ? " and" : " :", l, l);
    put(&w, "%s i%zu < j%zu }", loop ? " and" : " :", loop, loop);
    return isl_map_read_from_str(ctx, w.text);
}

/* Makes the pairs of iterations in which no parallel iterator differs. */
static isl_map *same_parallel(isl_ctx *ctx, const struct exp_affine_nest *n)
{
    struct words w = { .used = 0 };
    bool any = false;

    put(&w, "{ ");
    put_iterators(&w, n, 'i');
    put(&w, " -> ");
    put_iterators(&w, n, 'j');
    for (size_t l = 0; l < n->n_loops; l++) {
        if (!n->loop[l].is_parallel)
            continue;
        put(&w, "%s i%zu = j%zu", any ? " and" : " :", l, l);
        any = true;
    }
    put(&w, " }");
    return isl_map_read_from_str(ctx, w.text);
}

/* ---- dependences ---- */

/* Reads the only point of a set; frees the set. */
static struct exp_affine_point point_of(isl_set *set, const struct exp_affine_nest *n)
{
    isl_point *point = isl_set_sample_point(set);
    struct exp_affine_point p = { { 0 } };

    for (size_t l = 0; l < n->n_loops; l++) {
        isl_val *value = isl_point_get_coordinate_val(point, isl_dim_set, (int)l);

        p.at[l] = (uint64_t)isl_val_get_num_si(value);
        isl_val_free(value);
    }
    isl_point_free(point);
    return p;
}

static unsigned kind_of(const struct exp_affine_access *source, const struct exp_affine_access *target)
{
    if (source->is_write)
        return target->is_write ? EXP_WRITE_AFTER_WRITE : EXP_READ_AFTER_WRITE;
    return target->is_write ? EXP_WRITE_AFTER_READ : EXP_READ_AFTER_READ;
}

/* The maps of a nest, made once. */
struct maps {
    isl_ctx *ctx;
    isl_set *domain;
    isl_map *access[EXP_AFFINE_MAX_ACCESSES];
    isl_map *parallel;
};

/* Makes the dependences of one access on another that a loop carries: pairs of iterations. */
static isl_map *pairs(const struct maps *m, const struct exp_affine_nest *n, size_t source, size_t target, size_t loop)
{
    isl_map *same =
        isl_map_apply_range(isl_map_copy(m->access[source]), isl_map_reverse(isl_map_copy(m->access[target])));

    same = isl_map_intersect_domain(same, isl_set_copy(m->domain));
    same = isl_map_intersect_range(same, isl_set_copy(m->domain));
    return isl_map_intersect(same, carried_by(m->ctx, n, loop));
}

/* Describes pairs, which are some; frees them. */
static void describe(struct exp_dependence *d, const struct maps *m, const struct exp_affine_nest *n, isl_map *pairs)
{
    isl_set *source = isl_set_lexmin(isl_map_domain(isl_map_copy(pairs)));
    isl_set *targets = isl_set_apply(isl_set_copy(source), isl_map_copy(pairs));

    d->source = point_of(source, n);
    d->first_target = point_of(isl_set_lexmin(isl_set_copy(targets)), n);
    d->last_target = point_of(isl_set_lexmax(targets), n);
    d->spans_parallel = !isl_map_is_subset(pairs, m->parallel);
    isl_map_free(pairs);
}

static bool is_same_access(const struct exp_affine_access *a, const struct exp_affine_access *b)
{
    return !strcmp(a->array, b->array) && a->n_dims == b->n_dims && !memcmp(a->dim, b->dim, a->n_dims * sizeof *a->dim);
}

/* The accesses of a dependence. */
struct ends {
    size_t source, target;
};

/* Finds a dependence whose pairs are the same, because its accesses have the same subscripts. */
static struct exp_dependence *find_same(const struct exp_affine_nest *n, struct exp_dependence *d,
                                        const struct ends *of, size_t count, const struct ends *wanted, size_t loop)
{
    for (size_t i = 0; i < count; i++) {
        if (d[i].carrier == loop && is_same_access(&n->access[of[i].source], &n->access[wanted->source]) &&
            is_same_access(&n->access[of[i].target], &n->access[wanted->target]))
            return &d[i];
    }
    return NULL;
}

static size_t find_all(const struct maps *m, const struct exp_affine_nest *n, struct exp_dependence *d)
{
    struct ends of[EXP_MAX_DEPENDENCES];
    size_t count = 0;

    for (size_t i = 0; i < n->n_accesses * n->n_accesses * n->n_loops; i++) {
        const size_t loop = i % n->n_loops;
        const struct ends ends = { i / n->n_loops / n->n_accesses, i / n->n_loops % n->n_accesses };
        const struct exp_affine_access *a = &n->access[ends.source], *b = &n->access[ends.target];
        struct exp_dependence *known;
        isl_map *some;

        if (strcmp(a->array, b->array) != 0)
            continue;
        known = find_same(n, d, of, count, &ends, loop);
        if (known) {
            known->kinds |= kind_of(a, b);
            continue;
        }
        some = pairs(m, n, ends.source, ends.target, loop);
        if (isl_map_is_empty(some)) {
            isl_map_free(some);
            continue;
        }
        d[count] = (struct exp_dependence){ .array = a->array, .kinds = kind_of(a, b), .carrier = loop };
        describe(&d[count], m, n, some);
        of[count++] = ends;
    }
    return count;
}

size_t exp_affine_dependences(const struct exp_affine_nest *n, struct exp_dependence d[EXP_MAX_DEPENDENCES], int *err)
{
    struct maps m = { .ctx = isl_ctx_alloc() };
    size_t count = 0;

    *err = !n->n_loops ? -EINVAL : !m.ctx ? -ENOMEM : 0;
    if (!*err) {
        m.domain = domain(m.ctx, n);
        m.parallel = same_parallel(m.ctx, n);
        for (size_t i = 0; i < n->n_accesses; i++)
            m.access[i] = access_map(m.ctx, n, &n->access[i]);
        count = find_all(&m, n, d);
        for (size_t i = 0; i < n->n_accesses; i++)
            isl_map_free(m.access[i]);
        isl_map_free(m.parallel);
        isl_set_free(m.domain);
    }
    if (m.ctx)
        isl_ctx_free(m.ctx);
    return count;
}
