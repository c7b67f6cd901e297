/*
 * The epilogue with vectors of N_LANES floats, then of CONV_EPILOGUE_PIECE, then without. The including file, which is
 * compiled for the instruction set, defines N_LANES, and EPILOGUE as the routine's name (kernels/ukr/registry.h).
 */
#ifndef KERNELS_UKR_EPILOGUE_TMPL_H
#define KERNELS_UKR_EPILOGUE_TMPL_H

#include <stdbool.h>

#include "kernels/ukr/epilogue.h"
#include "kernels/ukr/ukr.h"

/* What one filter's windows become. */
struct epilogue_row {
    float *out;
    const float *in, *residual; /* residual may be NULL */
    float scale, bias;
    bool scales, adds_bias;
    size_t n_win;
    enum conv_activation activation;
};

#define ROW_LANES N_LANES
#define ROW(name) wide_##name
#include "kernels/ukr/epilogue_row_tmpl.h"

#define ROW_LANES CONV_EPILOGUE_PIECE
#define ROW(name) piece_##name
#include "kernels/ukr/epilogue_row_tmpl.h"

static float activate(float x, enum conv_activation a)
{
    if (a == CONV_ACTIVATION_NONE)
        return x;
    x = x < 0 ? 0 : x;
    return a == CONV_ACTIVATION_RELU6 && x > 6 ? 6 : x;
}

static float finish_one(const struct epilogue_row *r, size_t i)
{
    float x = r->in[i];

    if (r->scales)
        x *= r->scale;
    if (r->adds_bias)
        x += r->bias;
    if (r->residual)
        x += r->residual[i];
    return activate(x, r->activation);
}

static void finish_row(const struct conv_epilogue_args *a, size_t f)
{
    const size_t row = f * a->ld_out;
    const struct epilogue_row r = {
        .out = conv_out_ptr(a->out) + row,
        .in = conv_in_ptr(a->in ? a->in : a->out) + row,
        .residual = a->residual ? conv_in_ptr(a->residual) + row : NULL,
        .scale = a->scale ? conv_in_ptr(a->scale)[f] : 1,
        .bias = a->bias ? conv_in_ptr(a->bias)[f] : 0,
        .scales = a->scale,
        .adds_bias = a->bias,
        .n_win = a->n_win,
        .activation = a->activation,
    };

    for (size_t i = piece_finish(&r, wide_finish(&r, 0)); i < r.n_win; i++)
        r.out[i] = finish_one(&r, i);
}

void EPILOGUE(const struct conv_epilogue_args *a)
{
    for (size_t f = 0; f < a->n_f; f++)
        finish_row(a, f);
}

#endif
