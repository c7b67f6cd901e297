#include "experiments/polydl/exp_loops.h"

/* The innermost loops of Figure 8: a row of windows. */
static void conv_row(const struct conv_problem *p, size_t block, const float *restrict a, const float *restrict b,
                     float *restrict c)
{
    for (size_t oi = 0; oi < p->q; oi++) {
        for (size_t ofm = 0; ofm < block; ofm++) {
            for (size_t ifm = 0; ifm < block; ifm++)
                c[oi * block + ofm] += a[ifm * block + ofm] * b[oi * p->stride_w * block + ifm];
        }
    }
}

static void conv(const struct conv_problem *p, size_t block, size_t n_ofm, const float *a, const float *b, float *c)
{
    const size_t height = p->h + p->pad_top + p->pad_bottom, width = p->w + p->pad_left + p->pad_right;
    const size_t n_ifm = p->c / block;

    for (size_t ofm = 0; ofm < n_ofm; ofm++) {
        for (size_t ifm = 0; ifm < n_ifm; ifm++) {
            for (size_t oj = 0; oj < p->p; oj++) {
                for (size_t tap = 0; tap < p->r * p->s; tap++) {
                    const size_t row = ifm * height + oj * p->stride_h + tap / p->s;

                    conv_row(p, block, a + ((ofm * n_ifm + ifm) * p->r * p->s + tap) * block * block,
                             b + (row * width + tap % p->s) * block, c + (ofm * p->p + oj) * p->q * block);
                }
            }
        }
    }
}

/* The paper's A is the operand B. */
static void gemm(const struct exp_gemm *g, size_t n_rows, const float *restrict b, const float *restrict a,
                 float *restrict c)
{
    for (size_t i = 0; i < n_rows; i++) {
        for (size_t j = 0; j < g->n; j++) {
            for (size_t k = 0; k < g->k; k++)
                c[i * g->n + j] += a[i * g->k + k] * b[k * g->n + j];
        }
    }
}

size_t exp_loops_iterations(const struct exp_variant_source *s)
{
    return s->problem ? s->problem->k / s->block : s->gemm.m;
}

void exp_loops_run(const struct exp_variant_source *s, size_t n_iterations, const float *a, const float *b, float *c)
{
    if (s->problem)
        conv(s->problem, s->block, n_iterations, a, b, c);
    else
        gemm(&s->gemm, n_iterations, a, b, c);
}
