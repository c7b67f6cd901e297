#include "kernels/ukr/f32_openblas.h"

#include <assert.h>

#include "kernels/ukr/element.h"

/* Floats that an instruction clears on every CPU of these cores. */
enum { LANES = 4 };
typedef float vector __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

static void clear(const struct conv_ukr_args *a)
{
    const vector zero = { 0 };
    float *out = conv_out_ptr(a->out);

    for (size_t f = 0; f < a->n_f; f++, out += a->ld_out) {
        size_t i = 0;

        for (; i + LANES <= a->n_win; i += LANES)
            *(vector *)(void *)(out + i) = zero;
        for (; i < a->n_win; i++)
            out[i] = 0;
    }
}

static void clear_emit(const struct conv_ukr_args *a, struct sim_sink *sink)
{
    size_t vectors = a->n_win / LANES;
    struct sim_run run[2] = {
        element_run(SIM_STORE, CONV_OUTPUT, CONV_PHASE_UKR, a->out, LANES, vectors),
        element_run(SIM_STORE, CONV_OUTPUT, CONV_PHASE_UKR, a->out + vectors * sizeof(vector), 1, a->n_win % LANES),
    };

    run[0].access_bytes = sizeof(vector);
    run[0].step_bytes = run[1].step_bytes = (int64_t)(a->ld_out * sizeof(float));
    sim_emit(sink, run, 2, a->n_f);
}

static const struct conv_blas_ukr *whole(const struct conv_ukr *u)
{
    return (const struct conv_blas_ukr *)(const void *)u;
}

static void conv_f32_ukr_openblas(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    if (!a->accumulate)
        clear(a);
    whole(u)->kernel((long)a->n_win, (long)a->n_f, (long)a->k, 1, conv_out_ptr(a->in), conv_out_ptr(a->filter),
                     conv_out_ptr(a->out), (long)a->ld_out);
}

/* Emits as the routine walks: filters outside, windows inside. */
static void emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    const struct conv_ukr *core = whole(u)->core;
    struct conv_ukr_args piece = *a;

    if (!a->accumulate)
        clear_emit(a, sink);
    piece.accumulate = true;
    for (size_t f = 0; f < a->n_f; f += piece.n_f) {
        piece.n_f = conv_tile_extent(a->n_f - f, core->n_f, core->f_panel, true);
        piece.filter = a->filter + f * a->k * sizeof(float);
        for (size_t i = 0; i < a->n_win; i += piece.n_win) {
            piece.n_win = conv_tile_extent(a->n_win - i, core->n_win, core->n_win, true);
            piece.in = a->in + i * a->k * sizeof(float);
            piece.out = a->out + (f * a->ld_out + i) * sizeof(float);
            core->emit(core, &piece, sink);
        }
    }
}

void conv_blas_ukr_init(struct conv_blas_ukr *u, const struct conv_ukr *core, conv_blas_kernel_fn kernel)
{
    assert(core->n_win >= 1 && core->n_f >= 1);
    *u = (struct conv_blas_ukr){ .ukr = *core, .core = core, .kernel = kernel };
    u->ukr.takes_columns = false;
    u->ukr.fn = kernel ? conv_f32_ukr_openblas : NULL;
    u->ukr.emit = emit;
}
