#include "experiments/polydl/exp_affine.h"

#include <errno.h>
#include <isl/point.h>
#include <isl/val.h>
#include <string.h>

#include "experiments/polydl/exp_affine_isl.h"

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
    return isl_map_intersect(same, exp_affine_carried_by(m->ctx, n, loop));
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
        m.domain = exp_affine_domain(m.ctx, n);
        m.parallel = exp_affine_same_parallel(m.ctx, n);
        for (size_t i = 0; i < n->n_accesses; i++)
            m.access[i] = exp_affine_access(m.ctx, n, &n->access[i]);
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
