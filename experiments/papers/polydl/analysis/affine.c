#include "experiments/papers/polydl/analysis/affine.h"

#include <errno.h>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>
#include <string.h>

#include "experiments/base/error.h"
#include "experiments/base/program.h"
#include "experiments/base/error.h"
#include "experiments/base/program.h"

size_t exp_affine_first_access(const struct exp_affine_nest *n, size_t access)
{
    size_t first = 0;

    while (strcmp(n->access[first].array, n->access[access].array) != 0)
        first++;
    return first;
}

/* ---- a nest in the words of isl ---- */

enum { TEXT_BYTES = 4096 };

/* Appends a tuple of iterators, S[i0,i1,...]; the prefix separates a target's iterators from a source's. */
static void say_iterators(char text[TEXT_BYTES], const char *before, const struct exp_affine_nest *n, char prefix)
{
    exp_say_more(text, TEXT_BYTES, "%sS[", before);
    for (size_t l = 0; l < n->n_loops; l++)
        exp_say_more(text, TEXT_BYTES, "%s%c%zu", l ? "," : "", prefix, l);
    exp_say_more(text, TEXT_BYTES, "]");
}

/* Makes the set of iterations, S[i0, i1, ...]. */
static isl_set *iterations_of(isl_ctx *ctx, const struct exp_affine_nest *n)
{
    char text[TEXT_BYTES] = "";

    say_iterators(text, "{ ", n, 'i');
    for (size_t l = 0; l < n->n_loops; l++)
        exp_say_more(text, TEXT_BYTES, "%s 0 <= i%zu < %ju", l ? " and" : " :", l, (uintmax_t)n->loop[l].extent);
    exp_say_more(text, TEXT_BYTES, " }");
    return isl_set_read_from_str(ctx, text);
}

/* Makes the map from any iteration to the elements of an access, A[d0, d1, ...]. */
static isl_map *elements_of(isl_ctx *ctx, const struct exp_affine_nest *n, const struct exp_affine_access *a)
{
    char text[TEXT_BYTES] = "";

    say_iterators(text, "{ ", n, 'i');
    exp_say_more(text, TEXT_BYTES, " -> %s[", a->array);
    for (size_t d = 0; d < a->n_dims; d++) {
        exp_say_more(text, TEXT_BYTES, "%s%ju", d ? "," : "", (uintmax_t)a->dim[d].first);
        for (size_t l = 0; l < n->n_loops; l++) {
            if (a->dim[d].step[l])
                exp_say_more(text, TEXT_BYTES, " + %ju i%zu", (uintmax_t)a->dim[d].step[l], l);
        }
    }
    exp_say_more(text, TEXT_BYTES, "] }");
    return isl_map_read_from_str(ctx, text);
}

/*
 * Makes the pairs of iterations, S[i0, ...] -> S[j0, ...], that a loop carries: the iterators differ first in the loop,
 * where the second is later. For loop n_loops, the pairs in which no parallel iterator differs.
 */
static isl_map *carried_by(isl_ctx *ctx, const struct exp_affine_nest *n, size_t loop)
{
    const char *before = " :";
    char text[TEXT_BYTES] = "";

    say_iterators(text, "{ ", n, 'i');
    say_iterators(text, " -> ", n, 'j');
    for (size_t l = 0; l < n->n_loops; l++) {
        if (loop < n->n_loops ? l > loop : !n->loop[l].is_parallel)
            continue;
        exp_say_more(text, TEXT_BYTES, "%s i%zu %s j%zu", before, l, l == loop ? "<" : "=", l);
        before = " and";
    }
    exp_say_more(text, TEXT_BYTES, " }");
    return isl_map_read_from_str(ctx, text);
}

/* Opens an isl context. */
static isl_ctx *open_isl(void)
{
    isl_ctx *ctx = isl_ctx_alloc();

    if (!ctx)
        exp_program_out_of_memory();
    return ctx;
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

/* Makes the dependences of an access on another that a loop carries: pairs of iterations. */
static isl_map *pairs(const struct maps *m, const struct exp_affine_nest *n, size_t source, size_t target, size_t loop)
{
    isl_map *same =
        isl_map_apply_range(isl_map_copy(m->access[source]), isl_map_reverse(isl_map_copy(m->access[target])));

    same = isl_map_intersect_domain(same, isl_set_copy(m->domain));
    same = isl_map_intersect_range(same, isl_set_copy(m->domain));
    return isl_map_intersect(same, carried_by(m->ctx, n, loop));
}

/* Describes a set of dependent iterations that is not empty. */
static void describe(struct exp_dependence *d, const struct maps *m, const struct exp_affine_nest *n, isl_map *pairs)
{
    isl_set *source = isl_set_lexmin(isl_map_domain(isl_map_copy(pairs)));
    isl_set *targets = isl_set_apply(isl_set_copy(source), isl_map_copy(pairs));

    d->source = point_of(source, n);
    d->first_target = point_of(isl_set_lexmin(isl_set_copy(targets)), n);
    d->last_target = point_of(isl_set_lexmax(targets), n);
    d->spans_parallel = !isl_map_is_subset(pairs, m->parallel);
}

static bool is_same_access(const struct exp_affine_access *a, const struct exp_affine_access *b)
{
    return !strcmp(a->array, b->array) && a->n_dims == b->n_dims && !memcmp(a->dim, b->dim, a->n_dims * sizeof *a->dim);
}

/* Finds a dependence with equal pairs, because its accesses have equal subscripts. */
static struct exp_dependence *find_same(struct exp_dependence *d, size_t count, const struct exp_affine_access *from,
                                        const struct exp_affine_access *to, size_t loop)
{
    for (size_t i = 0; i < count; i++) {
        if (d[i].carrier == loop && is_same_access(d[i].from, from) && is_same_access(d[i].to, to))
            return &d[i];
    }
    return NULL;
}

static size_t find_all(const struct maps *m, const struct exp_affine_nest *n, struct exp_dependence *d)
{
    size_t count = 0;

    for (size_t i = 0; i < n->n_accesses * n->n_accesses * n->n_loops; i++) {
        const size_t loop = i % n->n_loops, from = i / n->n_loops / n->n_accesses, to = i / n->n_loops % n->n_accesses;
        const struct exp_affine_access *a = &n->access[from], *b = &n->access[to];
        struct exp_dependence *known = find_same(d, count, a, b, loop);
        isl_map *some;

        if (known)
            known->kinds |= kind_of(a, b);
        if (known || strcmp(a->array, b->array) != 0)
            continue;
        some = pairs(m, n, from, to, loop);
        if (!isl_map_is_empty(some)) {
            d[count] = (struct exp_dependence){
                .from = a, .to = b, .array = a->array, .kinds = kind_of(a, b), .carrier = loop
            };
            describe(&d[count++], m, n, some);
        }
        isl_map_free(some);
    }
    return count;
}

size_t exp_affine_dependences(const struct exp_affine_nest *n, struct exp_dependence d[EXP_MAX_DEPENDENCES])
{
    struct maps m = { .ctx = open_isl() };
    size_t count;

    m.domain = iterations_of(m.ctx, n);
    m.parallel = carried_by(m.ctx, n, n->n_loops);
    for (size_t i = 0; i < n->n_accesses; i++)
        m.access[i] = elements_of(m.ctx, n, &n->access[i]);
    count = find_all(&m, n, d);
    for (size_t i = 0; i < n->n_accesses; i++)
        isl_map_free(m.access[i]);
    isl_map_free(m.parallel);
    isl_set_free(m.domain);
    isl_ctx_free(m.ctx);
    return count;
}

/* ---- Algorithm 3 ---- */

const char *const exp_fusion_reasons[EXP_N_FUSION_VERDICTS] = {
    [EXP_FUSION_LEGAL] = "the second operator follows the last iteration of the first one's reduction",
    [EXP_FUSION_OTHER_ELEMENTS] = "the two operators do not write the same elements",
    [EXP_FUSION_REDUCTION] = "the second operator writes some element more than once, so it is not element-wise",
    [EXP_FUSION_BETWEEN] = "something between the two operators touches what they write",
    [EXP_FUSION_OPERANDS] = "something between the two operators writes what the second reads",
    [EXP_FUSION_NEIGHBOURS] = "an operator reads elements that other iterations of it write",
    [EXP_FUSION_NO_LAST] = "elements are final in different iterations of the reduction loops",
};

/* Finds the only access that writes; NULL: there is no such access, or there are several. */
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

/* Makes the map from a nest's iterations to the elements that an access touches. */
static isl_map *touches(isl_ctx *ctx, const struct exp_affine_nest *n, const struct exp_affine_access *a)
{
    return isl_map_intersect_domain(elements_of(ctx, n, a), iterations_of(ctx, n));
}

static isl_set *written(isl_ctx *ctx, const struct exp_affine_nest *n)
{
    return isl_map_range(touches(ctx, n, only_write(n)));
}

/* Asks isl about two sets; frees both. */
static bool is_true(isl_bool (*said)(isl_set *a, isl_set *b), isl_set *a, isl_set *b)
{
    const bool is = said(a, b) == isl_bool_true;

    isl_set_free(a);
    isl_set_free(b);
    return is;
}

/* Tells whether two nests write the same elements of the same array. */
static bool write_the_same(isl_ctx *ctx, const struct exp_affine_nest *a, const struct exp_affine_nest *b)
{
    const struct exp_affine_access *x = only_write(a), *y = only_write(b);

    return !strcmp(x->array, y->array) && x->n_dims == y->n_dims &&
           is_true(isl_set_is_equal, written(ctx, a), written(ctx, b));
}

/* Tells whether a nest writes each element in a single iteration: |iterations| = |elements|. */
static bool writes_once(isl_ctx *ctx, const struct exp_affine_nest *n)
{
    isl_map *map = touches(ctx, n, only_write(n));
    const bool is_once = isl_map_is_injective(map) == isl_bool_true;

    isl_map_free(map);
    return is_once;
}

/* The accesses to look at. */
enum wanted { ANY, WRITES };

/* Tells whether wanted accesses of a nest touch elements that wanted accesses of another nest touch. */
static bool touch_the_same(isl_ctx *ctx, const struct exp_affine_nest *a, enum wanted of_a,
                           const struct exp_affine_nest *b, enum wanted of_b)
{
    for (size_t i = 0; i < a->n_accesses * b->n_accesses; i++) {
        const struct exp_affine_access *x = &a->access[i / b->n_accesses], *y = &b->access[i % b->n_accesses];

        if ((x->is_write || of_a == ANY) && (y->is_write || of_b == ANY) && !strcmp(x->array, y->array) &&
            !is_true(isl_set_is_disjoint, isl_map_range(touches(ctx, a, x)), isl_map_range(touches(ctx, b, y))))
            return true;
    }
    return false;
}

/* Tells whether all written elements that an access reads are written by the reading iteration. */
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

/* Marks the loops that carry writes of an element to later writes of the element. */
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

/* Tells whether the last iterations of the reduction loops write all written elements. */
static bool has_last(isl_ctx *ctx, const struct exp_affine_nest *n, const struct exp_fusion *f)
{
    isl_set *last = iterations_of(ctx, n);

    for (size_t l = 0; l < n->n_loops; l++) {
        if (f->is_reduction[l])
            last = isl_set_fix_si(last, isl_dim_set, (unsigned)l, (int)n->loop[l].extent - 1);
    }
    return is_true(isl_set_is_equal, isl_set_apply(last, elements_of(ctx, n, only_write(n))), written(ctx, n));
}

static enum exp_fusion_verdict judge(isl_ctx *ctx, const struct exp_affine_nest *heavy,
                                     const struct exp_affine_nest *between, size_t n_between,
                                     const struct exp_affine_nest *element_wise, const struct exp_fusion *f)
{
    if (!write_the_same(ctx, heavy, element_wise))
        return EXP_FUSION_OTHER_ELEMENTS;
    if (!writes_once(ctx, element_wise))
        return EXP_FUSION_REDUCTION;
    for (size_t i = 0; i < n_between; i++) {
        if (touch_the_same(ctx, &between[i], ANY, heavy, WRITES))
            return EXP_FUSION_BETWEEN;
    }
    for (size_t i = 0; i < n_between; i++) {
        if (touch_the_same(ctx, &between[i], WRITES, element_wise, ANY))
            return EXP_FUSION_OPERANDS;
    }
    if (reads_neighbours(ctx, heavy) || reads_neighbours(ctx, element_wise))
        return EXP_FUSION_NEIGHBOURS;
    return has_last(ctx, heavy, f) ? EXP_FUSION_LEGAL : EXP_FUSION_NO_LAST;
}

int exp_fuse(const struct exp_affine_nest *heavy, const struct exp_affine_nest *between, size_t n_between,
             const struct exp_affine_nest *element_wise, struct exp_fusion *f)
{
    isl_ctx *ctx;

    *f = (struct exp_fusion){ 0 };
    if (!only_write(heavy) || !only_write(element_wise))
        return -EINVAL;
    ctx = open_isl();
    mark_reduction(ctx, heavy, f);
    f->verdict = judge(ctx, heavy, between, n_between, element_wise, f);
    isl_ctx_free(ctx);
    return 0;
}
