#include "experiments/polydl/analysis/exp_affine.h"

#include <errno.h>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- a nest in the words of isl ---- */

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

/* Makes the set of iterations, S[i0, i1, ...]. */
static isl_set *iterations_of(isl_ctx *ctx, const struct exp_affine_nest *n)
{
    struct words w = { .used = 0 };

    put(&w, "{ ");
    put_iterators(&w, n, 'i');
    for (size_t l = 0; l < n->n_loops; l++)
        put(&w, "%s 0 <= i%zu < %ju", l ? " and" : " :", l, (uintmax_t)n->loop[l].extent);
    put(&w, " }");
    return isl_set_read_from_str(ctx, w.text);
}

/* Makes the map from any iteration to the elements of an access, A[d0, d1, ...]. */
static isl_map *elements_of(isl_ctx *ctx, const struct exp_affine_nest *n, const struct exp_affine_access *a)
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

/* Makes the pairs of iterations, S[i0, ...] -> S[j0, ...], that differ first in a loop, where the second is later. */
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
        m.domain = iterations_of(m.ctx, n);
        m.parallel = same_parallel(m.ctx, n);
        for (size_t i = 0; i < n->n_accesses; i++)
            m.access[i] = elements_of(m.ctx, n, &n->access[i]);
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

/* ---- Algorithm 3 ---- */

static const char *const reasons[EXP_N_FUSION_VERDICTS] = {
    [EXP_FUSION_LEGAL] = "the second operator follows the last iteration of the first one's reduction",
    [EXP_FUSION_OTHER_ELEMENTS] = "the two operators do not write the same elements",
    [EXP_FUSION_REDUCTION] = "the second operator writes some element more than once, so it is not element-wise",
    [EXP_FUSION_BETWEEN] = "something between the two operators touches what they write",
    [EXP_FUSION_OPERANDS] = "something between the two operators writes what the second reads",
    [EXP_FUSION_NEIGHBOURS] = "an operator reads elements that other iterations of it write",
    [EXP_FUSION_NO_LAST] = "elements are final in different iterations of the reduction loops",
};

const char *exp_fusion_reason(enum exp_fusion_verdict v)
{
    return reasons[v];
}

/* Finds the only access that writes; NULL: there is none, or there are several. */
static const struct exp_affine_access *only_write(const struct exp_affine_nest *n)
{
    const struct exp_affine_access *found = NULL;

    for (size_t i = 0; i < n->n_accesses; i++) {
        if (!n->access[i].is_write)
            continue;
        if (found)
            return NULL;
        found = &n->access[i];
    }
    return found;
}

/* Makes the map from a nest's iterations to what an access of it touches. */
static isl_map *touches(isl_ctx *ctx, const struct exp_affine_nest *n, const struct exp_affine_access *a)
{
    return isl_map_intersect_domain(elements_of(ctx, n, a), iterations_of(ctx, n));
}

static isl_set *written(isl_ctx *ctx, const struct exp_affine_nest *n)
{
    return isl_map_range(touches(ctx, n, only_write(n)));
}

/* Tells whether two nests write the same elements of the same array. */
static bool write_the_same(isl_ctx *ctx, const struct exp_affine_nest *a, const struct exp_affine_nest *b)
{
    const struct exp_affine_access *x = only_write(a), *y = only_write(b);
    isl_set *first, *second;
    bool is_same;

    if (strcmp(x->array, y->array) != 0 || x->n_dims != y->n_dims)
        return false;
    first = written(ctx, a);
    second = written(ctx, b);
    is_same = isl_set_is_equal(first, second) == isl_bool_true;
    isl_set_free(first);
    isl_set_free(second);
    return is_same;
}

/* Tells whether a nest writes each element in one iteration: |iterations| = |elements|. */
static bool writes_once(isl_ctx *ctx, const struct exp_affine_nest *n)
{
    isl_map *map = touches(ctx, n, only_write(n));
    const bool is_once = isl_map_is_injective(map) == isl_bool_true;

    isl_map_free(map);
    return is_once;
}

/* Tells whether a nest reads or writes any element of a set, which are of that array. */
static bool meets(isl_ctx *ctx, const struct exp_affine_nest *n, isl_set *elements, const char *array)
{
    bool any = false;

    for (size_t i = 0; i < n->n_accesses && !any; i++) {
        isl_set *touched;

        if (strcmp(n->access[i].array, array) != 0)
            continue;
        touched = isl_map_range(touches(ctx, n, &n->access[i]));
        any = isl_set_is_disjoint(touched, elements) != isl_bool_true;
        isl_set_free(touched);
    }
    return any;
}

static bool is_touched_between(isl_ctx *ctx, const struct exp_affine_nest *between, size_t n,
                               const struct exp_affine_nest *heavy)
{
    isl_set *elements = written(ctx, heavy);
    bool any = false;

    for (size_t i = 0; i < n && !any; i++)
        any = meets(ctx, &between[i], elements, only_write(heavy)->array);
    isl_set_free(elements);
    return any;
}

/* Tells whether a nest writes what another one touches. */
static bool writes_operands(isl_ctx *ctx, const struct exp_affine_nest *writer, const struct exp_affine_nest *reader)
{
    bool any = false;

    for (size_t i = 0; i < writer->n_accesses && !any; i++) {
        isl_set *elements;

        if (!writer->access[i].is_write)
            continue;
        elements = isl_map_range(touches(ctx, writer, &writer->access[i]));
        any = meets(ctx, reader, elements, writer->access[i].array);
        isl_set_free(elements);
    }
    return any;
}

static bool are_operands_written(isl_ctx *ctx, const struct exp_affine_nest *between, size_t n,
                                 const struct exp_affine_nest *element_wise)
{
    for (size_t i = 0; i < n; i++) {
        if (writes_operands(ctx, &between[i], element_wise))
            return true;
    }
    return false;
}

/* Tells whether what an access reads of the nest's written elements is what the same iteration writes. */
static bool reads_its_own(isl_ctx *ctx, const struct exp_affine_nest *n, const struct exp_affine_access *a)
{
    isl_map *reads, *writes;
    bool is_own;

    if (strcmp(a->array, only_write(n)->array) != 0)
        return true;
    writes = touches(ctx, n, only_write(n));
    reads = isl_map_intersect_range(touches(ctx, n, a), written(ctx, n));
    is_own = isl_map_is_subset(reads, writes) == isl_bool_true;
    isl_map_free(reads);
    isl_map_free(writes);
    return is_own;
}

static bool reads_neighbours(isl_ctx *ctx, const struct exp_affine_nest *n)
{
    for (size_t i = 0; i < n->n_accesses; i++) {
        if (!reads_its_own(ctx, n, &n->access[i]))
            return true;
    }
    return false;
}

/* Marks the loops that carry writes of one element to later writes of it. */
static void mark_reduction(isl_ctx *ctx, const struct exp_affine_nest *n, struct exp_fusion *f)
{
    isl_map *writes = touches(ctx, n, only_write(n));
    isl_map *again = isl_map_apply_range(writes, isl_map_reverse(isl_map_copy(writes)));

    for (size_t l = 0; l < n->n_loops; l++) {
        isl_map *carried = isl_map_intersect(isl_map_copy(again), carried_by(ctx, n, l));

        f->is_reduction[l] = isl_map_is_empty(carried) == isl_bool_false;
        isl_map_free(carried);
    }
    isl_map_free(again);
}

/* Tells whether the last iterations of the reduction loops write all that the nest writes. */
static bool has_last(isl_ctx *ctx, const struct exp_affine_nest *n, const struct exp_fusion *f)
{
    isl_set *last = iterations_of(ctx, n), *all = written(ctx, n), *final;
    bool is_all;

    for (size_t l = 0; l < n->n_loops; l++) {
        if (f->is_reduction[l])
            last = isl_set_fix_si(last, isl_dim_set, (unsigned)l, (int)n->loop[l].extent - 1);
    }
    final = isl_set_apply(last, elements_of(ctx, n, only_write(n)));
    is_all = isl_set_is_equal(final, all) == isl_bool_true;
    isl_set_free(final);
    isl_set_free(all);
    return is_all;
}

static enum exp_fusion_verdict judge(isl_ctx *ctx, const struct exp_affine_nest *heavy,
                                     const struct exp_affine_nest *between, size_t n_between,
                                     const struct exp_affine_nest *element_wise, const struct exp_fusion *f)
{
    if (!write_the_same(ctx, heavy, element_wise))
        return EXP_FUSION_OTHER_ELEMENTS;
    if (!writes_once(ctx, element_wise))
        return EXP_FUSION_REDUCTION;
    if (is_touched_between(ctx, between, n_between, heavy))
        return EXP_FUSION_BETWEEN;
    if (are_operands_written(ctx, between, n_between, element_wise))
        return EXP_FUSION_OPERANDS;
    if (reads_neighbours(ctx, heavy) || reads_neighbours(ctx, element_wise))
        return EXP_FUSION_NEIGHBOURS;
    return has_last(ctx, heavy, f) ? EXP_FUSION_LEGAL : EXP_FUSION_NO_LAST;
}

int exp_fuse(const struct exp_affine_nest *heavy, const struct exp_affine_nest *between, size_t n_between,
             const struct exp_affine_nest *element_wise, struct exp_fusion *f)
{
    isl_ctx *ctx;

    memset(f, 0, sizeof *f);
    if (!only_write(heavy) || !only_write(element_wise))
        return -EINVAL;
    ctx = isl_ctx_alloc();
    if (!ctx)
        return -ENOMEM;
    mark_reduction(ctx, heavy, f);
    f->verdict = judge(ctx, heavy, between, n_between, element_wise, f);
    isl_ctx_free(ctx);
    return 0;
}
