#include "experiments/polydl/exp_symbolic.h"

#include <errno.h>
#include <isl/aff.h>
#include <string.h>

#include "experiments/polydl/exp_affine_isl.h"

/* ---- counting ---- */

/* Makes the set of all points whose coordinate in one dimension is that of some point of a set. */
static isl_set *side(isl_set *set, unsigned dim, unsigned n_dims)
{
    isl_set *s = isl_set_project_out(isl_set_copy(set), isl_dim_set, dim + 1, n_dims - dim - 1);

    s = isl_set_project_out(s, isl_dim_set, 0, dim);
    s = isl_set_insert_dims(s, isl_dim_set, 0, dim);
    return isl_set_insert_dims(s, isl_dim_set, dim + 1, n_dims - dim - 1);
}

/* Tells whether a set is a box: all points that are within its sides, of which none is strided. */
static bool is_box(isl_basic_set *piece)
{
    const unsigned n_dims = (unsigned)isl_basic_set_dim(piece, isl_dim_set);
    isl_set *set = isl_set_reset_tuple_id(isl_set_from_basic_set(isl_basic_set_copy(piece))), *box = NULL;
    bool is = !isl_basic_set_dim(piece, isl_dim_div);

    for (unsigned d = 0; d < n_dims; d++)
        box = box ? isl_set_intersect(box, side(set, d, n_dims)) : side(set, d, n_dims);
    is = is && isl_set_is_equal(box, set) == isl_bool_true;
    isl_set_free(box);
    isl_set_free(set);
    return is;
}

/* A sum over pieces. */
struct sum {
    isl_pw_qpolynomial *elements;
    bool is_exact;
};

/* Adds the number of a piece's points; frees it. */
static isl_stat add_piece(isl_basic_set *piece, void *ctx)
{
    const int n_dims = isl_basic_set_dim(piece, isl_dim_set);
    isl_pw_qpolynomial *points = NULL;
    struct sum *sum = ctx;
    isl_set *set;

    sum->is_exact = sum->is_exact && is_box(piece);
    set = isl_set_from_basic_set(piece);
    for (int d = 0; d < n_dims; d++) {
        isl_pw_aff *length =
            isl_pw_aff_sub(isl_set_dim_max(isl_set_copy(set), d), isl_set_dim_min(isl_set_copy(set), d));
        isl_pw_qpolynomial *side =
            isl_pw_qpolynomial_from_pw_aff(isl_pw_aff_add_constant_val(length, isl_val_one(isl_set_get_ctx(set))));

        points = points ? isl_pw_qpolynomial_mul(points, side) : side;
    }
    isl_set_free(set);
    sum->elements = sum->elements ? isl_pw_qpolynomial_add(sum->elements, points) : points;
    return isl_stat_ok;
}

/* Adds the number of elements of an array that iterations touch. */
static void add_array(struct sum *sum, isl_ctx *ctx, const struct exp_affine_nest *n, const char *array,
                      isl_set *iterations)
{
    isl_set *touched = NULL;

    for (size_t i = 0; i < n->n_accesses; i++) {
        isl_set *by;

        if (strcmp(n->access[i].array, array) != 0)
            continue;
        by = isl_set_apply(isl_set_copy(iterations), exp_affine_access(ctx, n, &n->access[i]));
        touched = touched ? isl_set_union(touched, by) : by;
    }
    touched = isl_set_make_disjoint(isl_set_coalesce(touched));
    isl_set_foreach_basic_set(touched, add_piece, sum);
    isl_set_free(touched);
}

static bool is_first_access(const struct exp_affine_nest *n, size_t access)
{
    size_t first = 0;

    while (strcmp(n->access[first].array, n->access[access].array) != 0)
        first++;
    return first == access;
}

/* ---- iterations ---- */

/* Makes the pairs of iterations that touch the same element by one access and differ first in a loop. */
static isl_map *pairs_of(isl_ctx *ctx, const struct exp_affine_nest *n, isl_set *domain, size_t access, size_t loop)
{
    isl_map *to = exp_affine_access(ctx, n, &n->access[access]);
    isl_map *same = isl_map_apply_range(to, isl_map_reverse(isl_map_copy(to)));

    same = isl_map_intersect(same, exp_affine_carried_by(ctx, n, loop));
    return isl_map_intersect_range(isl_map_intersect_domain(same, isl_set_copy(domain)), isl_set_copy(domain));
}

/* Makes the iterations from the first source to its first or last target; frees the pairs. */
static isl_set *between(isl_set *domain, isl_map *pairs, bool last)
{
    isl_set *source = isl_set_lexmin(isl_map_domain(isl_map_copy(pairs)));
    isl_set *targets = isl_set_apply(isl_set_copy(source), pairs);
    isl_set *target = last ? isl_set_lexmax(targets) : isl_set_lexmin(targets);
    isl_set *from = isl_map_range(isl_set_lex_le_set(source, isl_set_copy(domain)));
    isl_set *to = isl_map_domain(isl_set_lex_le_set(isl_set_copy(domain), target));

    return isl_set_coalesce(isl_set_intersect(from, to));
}

isl_pw_qpolynomial *exp_symbolic_working_set(isl_ctx *ctx, const struct exp_affine_nest *n, size_t access, size_t loop,
                                             bool last, int *err)
{
    isl_set *domain = exp_affine_symbolic_domain(ctx, n);
    isl_map *pairs = pairs_of(ctx, n, domain, access, loop);
    struct sum sum = { NULL, true };

    *err = isl_map_is_empty(pairs) ? -EINVAL : 0;
    if (*err) {
        isl_map_free(pairs);
    } else {
        isl_set *iterations = between(domain, pairs, last);

        for (size_t i = 0; i < n->n_accesses; i++) {
            if (is_first_access(n, i))
                add_array(&sum, ctx, n, n->access[i].array, iterations);
        }
        isl_set_free(iterations);
        if (!sum.is_exact || !sum.elements)
            *err = sum.is_exact ? -ENOMEM : -ENOTSUP;
    }
    if (!*err)
        sum.elements = isl_pw_qpolynomial_coalesce(
            isl_pw_qpolynomial_gist_params(sum.elements, isl_set_params(isl_set_copy(domain))));
    else
        sum.elements = isl_pw_qpolynomial_free(sum.elements);
    isl_set_free(domain);
    return sum.elements;
}
