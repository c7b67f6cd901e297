#include "kernels/backend/base.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>

#include "kernels/backend/resolve.h"

enum { ROW_MAJOR = 101, NO_TRANS = 111 }; /* cblas.h */

/* out [filters][windows] = filter [filters][reduction] * matrix [reduction][windows] */
static void multiply(const struct conv_plan *plan, const struct conv_binding *bind, const struct conv_blas *blas,
                     const struct conv_step *s)
{
    const struct conv_pack_matrix_args in = conv_resolve_pack_matrix(plan, bind, s);
    const struct conv_pack_filters_args f = conv_resolve_pack_filters(plan, bind, s);
    const struct conv_zero_args out = conv_resolve_zero(plan, bind, s);

    blas->sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, (int)s->n_f, (int)s->n_win, (int)s->n_k, 1, conv_in_ptr(f.filter),
                (int)f.ld, conv_in_ptr(in.matrix), (int)in.ld, 0, conv_out_ptr(out.out), (int)out.ld_out);
}

int conv_base_run(const struct conv_plan *plan, const struct conv_binding *bind, const struct conv_blas *blas)
{
    return conv_base_run_with(plan, bind, blas, conv_im2col);
}

int conv_base_run_with(const struct conv_plan *plan, const struct conv_binding *bind, const struct conv_blas *blas,
                       conv_im2col_fn lower)
{
    const struct conv_problem *p = &plan->problem;
    struct conv_step s = {
        .n_win = conv_windows(p),
        .n_f = conv_group_filters(p),
        .n_k = conv_reduction(p),
    };

    assert(plan->algorithm == CONV_GEMM && blas->sgemm && lower);
    if (s.n_win > INT_MAX || s.n_f > INT_MAX || s.n_k > INT_MAX)
        return -EOVERFLOW;
    for (s.image = 0; s.image < p->n; s.image++) {
        for (s.group = 0; s.group < p->groups; s.group++) {
            if (plan->gemm.needs_im2col) {
                const struct conv_im2col_args a = conv_resolve_im2col(plan, bind, &s);

                lower(&a);
            }
            multiply(plan, bind, blas, &s);
        }
    }
    return 0;
}
