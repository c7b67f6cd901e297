/* The fused epilogue, 16 bytes at a time in the compiler's own vectors: a piece in the source is one in the machine. */
#include "kernels/epilogue.h"
#include "kernels/ukr/element.h"

enum { PIECE = 4 };

typedef float piece __attribute__((vector_size(PIECE * sizeof(float)), aligned(4), may_alias));
typedef int mask __attribute__((vector_size(PIECE * sizeof(int))));

/* Keeps NaN: a comparison with NaN is false. */
static float activate(float x, enum conv_activation a)
{
    if (a == CONV_ACTIVATION_NONE)
        return x;
    x = x < 0 ? 0 : x;
    return a == CONV_ACTIVATION_RELU6 && x > 6 ? 6 : x;
}

static piece activate_piece(piece x, enum conv_activation a)
{
    const piece zero = { 0 }, six = { 6, 6, 6, 6 };
    mask above;

    if (a == CONV_ACTIVATION_NONE)
        return x;
    x = (piece)((mask)x & ~(mask)(x < zero));
    if (a == CONV_ACTIVATION_RELU)
        return x;
    above = (mask)(x > six);
    return (piece)(((mask)x & ~above) | ((mask)six & above));
}

static void finish_row(const struct conv_epilogue_args *a, float *out, const float *bias, const float *residual)
{
    const float b = bias ? *bias : 0;
    const piece bs = { b, b, b, b };
    size_t i = 0;

    for (; i + PIECE <= a->n_win; i += PIECE) {
        piece x = *(const piece *)(out + i);

        if (bias)
            x += bs;
        if (residual)
            x += *(const piece *)(residual + i);
        *(piece *)(out + i) = activate_piece(x, a->activation);
    }
    for (; i < a->n_win; i++) {
        float x = out[i];

        if (bias)
            x += b;
        if (residual)
            x += residual[i];
        out[i] = activate(x, a->activation);
    }
}

void conv_epilogue(const struct conv_epilogue_args *a)
{
    for (size_t f = 0; f < a->n_f; f++)
        finish_row(a, conv_out_ptr(a->out) + f * a->ld_out, a->bias ? conv_in_ptr(a->bias) + f : NULL,
                   a->residual ? conv_in_ptr(a->residual) + f * a->ld_out : NULL);
}

/* Emits count pieces of the given width: load the output, load the residual, store. */
static void emit_pieces(const struct conv_epilogue_args *a, uint64_t offset, size_t count, size_t width,
                        struct sim_sink *sink)
{
    struct sim_run run[3];
    size_t n = 0;

    run[n++] = element_run(SIM_LOAD, CONV_OUTPUT, CONV_PHASE_UKR, a->out + offset, 0, 1);
    if (a->residual)
        run[n++] = element_run(SIM_LOAD, CONV_INPUT, CONV_PHASE_UKR, a->residual + offset, 0, 1);
    run[n++] = element_run(SIM_STORE, CONV_OUTPUT, CONV_PHASE_UKR, a->out + offset, 0, 1);
    for (size_t i = 0; i < n; i++) {
        run[i].access_bytes = (uint32_t)(width * sizeof(float));
        run[i].step_bytes = (int64_t)(width * sizeof(float));
    }
    if (count)
        sim_emit(sink, run, n, count);
}

void conv_epilogue_emit(const struct conv_epilogue_args *a, struct sim_sink *sink)
{
    for (size_t f = 0; f < a->n_f; f++) {
        uint64_t row = f * a->ld_out * sizeof(float);
        const struct sim_run bias =
            element_run(SIM_LOAD, CONV_FILTER, CONV_PHASE_UKR, a->bias + f * sizeof(float), 0, 1);

        if (a->bias)
            sim_emit(sink, &bias, 1, 1);
        emit_pieces(a, row, a->n_win / PIECE, PIECE, sink);
        emit_pieces(a, row + a->n_win / PIECE * PIECE * sizeof(float), a->n_win % PIECE, 1, sink);
    }
}
