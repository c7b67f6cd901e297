#include "kernels/backend/base.h"

#include <assert.h>
#include <errno.h>

#include "kernels/backend/resolve.h"

static void run_block(struct conv_blas_exec *e)
{
    const struct conv_ukr_args a = conv_resolve_ukr(e->plan, e->bind, &e->block);

    e->parts->kernel((long)a.n_win, (long)a.n_f, (long)a.k, 1, conv_out_ptr(a.in), conv_out_ptr(a.filter),
                     conv_out_ptr(a.out), (long)a.ld_out);
}

void conv_blas_exec_flush(struct conv_blas_exec *e)
{
    if (e->block.n_win)
        run_block(e);
    e->block.n_win = 0;
}

/* Filters are outside and windows inside: the last step of a block ends the ranges of both. */
static void gather(struct conv_blas_exec *e, const struct conv_step *s)
{
    if (!e->block.n_win)
        e->block = *s;
    e->block.n_win = s->win0 + s->n_win - e->block.win0;
    e->block.n_f = s->f0 + s->n_f - e->block.f0;
}

static void copy_windows(const struct conv_blas_exec *e, const struct conv_step *s)
{
    const struct conv_pack_matrix_args a = conv_resolve_pack_matrix(e->plan, e->bind, s);

    e->parts->copy_windows((long)a.n_k, (long)a.n_win, conv_out_ptr(a.matrix), (long)a.ld, conv_out_ptr(a.panels));
}

static void copy_filters(const struct conv_blas_exec *e, const struct conv_step *s)
{
    const struct conv_pack_filters_args a = conv_resolve_pack_filters(e->plan, e->bind, s);

    e->parts->copy_filters((long)a.n_k, (long)a.n_f, conv_out_ptr(a.filter), (long)a.ld, conv_out_ptr(a.panels));
}

static void multiply(const struct conv_blas_exec *e, const struct conv_step *s)
{
    const struct conv_product_args a = conv_resolve_product(e->plan, e->bind, s);

    e->parts->small((long)a.n_win, (long)a.n_f, (long)a.n_k, conv_out_ptr(a.matrix), (long)a.n_win, 1,
                    conv_out_ptr(a.filter), (long)a.n_k, conv_out_ptr(a.out), (long)a.n_win);
}

static int step(struct conv_backend *self, const struct conv_step *s)
{
    struct conv_blas_exec *e = (struct conv_blas_exec *)self;

    if (s->kind == CONV_STEP_UKR) {
        gather(e, s);
        return 0;
    }
    conv_blas_exec_flush(e);
    if (s->kind == CONV_STEP_IM2COL) {
        const struct conv_im2col_args a = conv_resolve_im2col(e->plan, e->bind, s);

        conv_im2col(&a);
    } else if (s->kind == CONV_STEP_ZERO) {
        const struct conv_zero_args a = conv_resolve_zero(e->plan, e->bind, s);

        e->parts->clear((long)a.n_win, (long)a.n_f, 0, 0, NULL, 0, NULL, 0, conv_out_ptr(a.out), (long)a.ld_out);
    } else if (s->kind == CONV_STEP_PACK_MATRIX) {
        copy_windows(e, s);
    } else if (s->kind == CONV_STEP_PACK_FILTERS) {
        copy_filters(e, s);
    } else if (s->kind == CONV_STEP_PRODUCT && e->parts->small) {
        multiply(e, s);
    } else {
        return -EINVAL;
    }
    return 0;
}

void conv_blas_exec_init(struct conv_blas_exec *e, const struct conv_plan *plan, const struct conv_binding *bind,
                         const struct conv_blas_parts *parts)
{
    assert(plan->algorithm == CONV_GEMM);
    *e = (struct conv_blas_exec){ .base.step = step, .plan = plan, .bind = bind, .parts = parts };
}
