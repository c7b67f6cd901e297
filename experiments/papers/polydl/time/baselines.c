#include "experiments/papers/polydl/time/time.h"

#include <assert.h>
#include <string.h>

/* ---- LIBXSMM ---- */

/* The Makefile defines BUILT_XSMM where the header is found, and links the library then. */
#if defined(BUILT_XSMM)
#include <libxsmm.h>
#include <libxsmm_version.h>

const char *exp_xsmm_missing(void)
{
    return NULL;
}

const char *exp_xsmm_version(void)
{
    return LIBXSMM_CONFIG_VERSION;
}

/* Keeps LIBXSMM within CONV_CPU's limit. */
static void limit(void)
{
    if (!sim_cpu_has(CPU_ISA_AVX2))
        libxsmm_set_target_archid(LIBXSMM_X86_GENERIC);
    else if (!sim_cpu_has(CPU_ISA_AVX512))
        libxsmm_set_target_archid(LIBXSMM_X86_AVX2);
}

exp_xsmm_fn exp_xsmm_compile(const struct conv_small_args *a)
{
    const int lda = (int)a->lda, ldb = (int)a->ldb, ldc = (int)a->ldc;

    limit();
    return (exp_xsmm_fn)libxsmm_smmdispatch((int)a->m, (int)a->n, (int)a->k, &lda, &ldb, &ldc, NULL, NULL, NULL, NULL);
}

#else

const char *exp_xsmm_missing(void)
{
    return "built without LIBXSMM's header: install libxsmm-dev and build again";
}

const char *exp_xsmm_version(void)
{
    return exp_xsmm_missing();
}

exp_xsmm_fn exp_xsmm_compile(const struct conv_small_args *a)
{
    (void)a;
    return 0;
}

#endif

/* ---- plain loops ---- */

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
    assert(n_iterations <= exp_loops_iterations(s));
    if (s->problem)
        conv(s->problem, s->block, n_iterations, a, b, c);
    else
        gemm(&s->gemm, n_iterations, a, b, c);
}

/* ---- blocked layouts ---- */

void exp_block_input(const struct conv_problem *p, size_t block, const float *in, float *blocked)
{
    const size_t height = p->h + p->pad_top + p->pad_bottom, width = p->w + p->pad_left + p->pad_right;

    assert(block && p->c % block == 0);
    memset(blocked, 0, p->n * p->c * height * width * sizeof *blocked);
    for (size_t i = 0; i < p->n * p->c * p->h; i++) {
        const size_t plane = i / p->h, y = i % p->h + p->pad_top;
        float *row = blocked + ((plane / block * height + y) * width + p->pad_left) * block + plane % block;

        for (size_t x = 0; x < p->w; x++)
            row[x * block] = in[i * p->w + x];
    }
}

void exp_block_filter(const struct conv_problem *p, size_t block, const float *filter, float *blocked)
{
    const size_t taps = p->r * p->s;

    assert(block && p->c % block == 0 && p->k % block == 0);
    for (size_t i = 0; i < p->k * p->c; i++) {
        const size_t k = i / p->c, c = i % p->c;
        float *at = blocked + (k / block * (p->c / block) + c / block) * taps * block * block;

        for (size_t tap = 0; tap < taps; tap++)
            at[(tap * block + c % block) * block + k % block] = filter[i * taps + tap];
    }
}

void exp_unblock_output(const struct conv_problem *p, size_t block, const float *blocked, float *out)
{
    const size_t n_windows = conv_windows(p);

    assert(block && p->k % block == 0);
    for (size_t i = 0; i < p->n * p->k; i++) {
        for (size_t win = 0; win < n_windows; win++)
            out[i * n_windows + win] = blocked[(i / block * n_windows + win) * block + i % block];
    }
}
