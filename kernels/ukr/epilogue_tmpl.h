/*
 * The epilogue, for vectors of any length: a vector in the source is a vector in the machine. The including file, which
 * is compiled for the instruction set, defines
 *
 *   N_LANES    floats of a vector
 *   EPILOGUE   the routine's name (kernels/ukr/registry.h)
 *
 * and, if windows past the last whole vector are a masked vector, EPILOGUE_MASKS and load_part, store_part of fewer
 * than N_LANES floats, selected by a mask; else the windows are done one by one.
 */
#ifndef KERNELS_UKR_EPILOGUE_TMPL_H
#define KERNELS_UKR_EPILOGUE_TMPL_H

#include <math.h>
#include <stdbool.h>

#include "kernels/ukr/epilogue.h"
#include "kernels/ukr/ukr.h"

typedef float vector __attribute__((vector_size(N_LANES * sizeof(float)), aligned(4), may_alias));
typedef int lanes __attribute__((vector_size(N_LANES * sizeof(int))));

/* The factors and terms of a filter's windows. */
struct row {
    float *out;
    const float *in, *residual; /* residual may be NULL */
    vector scale, bias, low, high;
    bool scales, adds_bias;
};

/* Replaces values less than low and more than high. Keeps NaN: a comparison with NaN is false. */
static inline vector clamp(vector x, vector low, vector high)
{
    const lanes is_below = (lanes)(x < low), is_above = (lanes)(x > high);

    x = (vector)(((lanes)x & ~is_below) | ((lanes)low & is_below));
    return (vector)(((lanes)x & ~is_above) | ((lanes)high & is_above));
}

static inline vector finish(const struct row *r, vector x, vector residual)
{
    if (r->scales)
        x *= r->scale;
    if (r->adds_bias)
        x += r->bias;
    if (r->residual)
        x += residual;
    return clamp(x, r->low, r->high);
}

static inline vector load(const float *x)
{
    return *(const vector *)x;
}

#if defined(EPILOGUE_MASKS)
/* Finishes n windows, fewer than a vector's, from the i-th on. */
static inline void finish_rest(const struct row *r, size_t i, size_t n)
{
    const vector x = (vector)load_part(r->in + i, n);
    vector residual = { 0 };

    if (r->residual)
        residual = (vector)load_part(r->residual + i, n);
    store_part(r->out + i, n, finish(r, x, residual));
}
#else
static inline void finish_rest(const struct row *r, size_t i, size_t n)
{
    for (const size_t end = i + n; i < end; i++) {
        float x = r->in[i];

        if (r->scales)
            x *= r->scale[0];
        if (r->adds_bias)
            x += r->bias[0];
        if (r->residual)
            x += r->residual[i];
        x = x < r->low[0] ? r->low[0] : x;
        r->out[i] = x > r->high[0] ? r->high[0] : x;
    }
}
#endif

static inline void finish_row(const struct row *r, size_t n)
{
    const vector none = { 0 };
    size_t i = 0;

    for (; i + N_LANES <= n; i += N_LANES) {
        const vector x = load(r->in + i);
        const vector residual = r->residual ? load(r->residual + i) : none;

        *(vector *)(r->out + i) = finish(r, x, residual);
    }
    if (i < n)
        finish_rest(r, i, n - i);
}

void EPILOGUE(const struct conv_epilogue_args *a)
{
    const float *scale = conv_in_ptr(a->scale), *bias = conv_in_ptr(a->bias);
    const vector none = { 0 };
    struct row r = {
        .out = conv_out_ptr(a->out),
        .in = conv_in_ptr(a->in ? a->in : a->out),
        .residual = a->residual ? conv_in_ptr(a->residual) : NULL,
        .low = none + (a->activation == CONV_ACTIVATION_NONE ? -INFINITY : 0),
        .high = none + (a->activation == CONV_ACTIVATION_RELU6 ? 6 : INFINITY),
        .scales = a->scale,
        .adds_bias = a->bias,
    };

    for (size_t f = 0; f < a->n_f; f++) {
        if (r.scales)
            r.scale = none + scale[f];
        if (r.adds_bias)
            r.bias = none + bias[f];
        finish_row(&r, a->n_win);
        r.out += a->ld_out;
        r.in += a->ld_out;
        r.residual += r.residual ? a->ld_out : 0;
    }
}

#endif
