#include "experiments/polydl/exp_fusion.h"

#include <errno.h>
#include <string.h>

#include "experiments/polydl/exp_affine_isl.h"

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
    return isl_map_intersect_domain(exp_affine_access(ctx, n, a), exp_affine_domain(ctx, n));
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
        isl_map *carried = isl_map_intersect(isl_map_copy(again), exp_affine_carried_by(ctx, n, l));

        f->is_reduction[l] = isl_map_is_empty(carried) == isl_bool_false;
        isl_map_free(carried);
    }
    isl_map_free(again);
}

/* Tells whether the last iterations of the reduction loops write all that the nest writes. */
static bool has_last(isl_ctx *ctx, const struct exp_affine_nest *n, const struct exp_fusion *f)
{
    isl_set *last = exp_affine_domain(ctx, n), *all = written(ctx, n), *final;
    bool is_all;

    for (size_t l = 0; l < n->n_loops; l++) {
        if (f->is_reduction[l])
            last = isl_set_fix_si(last, isl_dim_set, (unsigned)l, (int)n->loop[l].extent - 1);
    }
    final = isl_set_apply(last, exp_affine_access(ctx, n, only_write(n)));
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
