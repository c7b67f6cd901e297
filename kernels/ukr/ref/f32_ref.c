/*
 * The portable micro-kernels: plain C, the reference that every vector kernel is held against, in the tile shapes of
 * all of them. Built without auto-vectorisation, so that a load in the source is a load in the machine.
 */
#include <assert.h>

#include "kernels/ukr/emit_common.h"
#include "kernels/ukr/registry.h"

enum { MAX_WIN = 64, MAX_F = 32 };

static void ukr_ref(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    size_t in_width = conv_ukr_in_width(u, a->n_win);
    const float *in = conv_in_ptr(a->in);
    const float *filter = conv_in_ptr(a->filter);
    float acc[MAX_F][MAX_WIN] = { { 0 } };

    assert(a->n_win <= MAX_WIN && a->n_f <= MAX_F);
    for (size_t t = 0; t < a->k; t++) {
        for (size_t f = 0; f < a->n_f; f++) {
            float weight = filter[t * a->n_f + f];

            for (size_t i = 0; i < a->n_win; i++)
                acc[f][i] += weight * in[t * in_width + i];
        }
    }
    for (size_t f = 0; f < a->n_f; f++) {
        float *out = conv_out_ptr(a->out) + f * a->ld_out;

        for (size_t i = 0; i < a->n_win; i++)
            out[i] = a->accumulate ? out[i] + acc[f][i] : acc[f][i];
    }
}

/* Emits, per step and filter, the weight and then the tile's windows one by one. */
static void ukr_ref_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    struct sim_run run[2] = {
        { .addr = a->filter,
          .step_bytes = sizeof(float),
          .count = 1,
          .access_bytes = sizeof(float),
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_FILTER,
          .phase = CONV_PHASE_UKR },
        { .addr = a->in,
          .stride_bytes = sizeof(float),
          .count = (uint32_t)a->n_win,
          .access_bytes = sizeof(float),
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_INPUT,
          .phase = CONV_PHASE_UKR },
    };

    for (size_t t = 0; t < a->k; t++) {
        sim_emit(sink, run, 2, a->n_f);
        run[0].addr += a->n_f * sizeof(float);
        run[1].addr += conv_ukr_in_width(u, a->n_win) * sizeof(float);
    }
    conv_emit_tile_update(a, sizeof(float), sink);
}

/* One function for all of them. */
#define REF_TILE(n_win_, n_f_)                                                                                         \
    void conv_f32_ukr_##n_win_##x##n_f_##__ref(const struct conv_ukr *u, const struct conv_ukr_args *a)                \
    {                                                                                                                  \
        ukr_ref(u, a);                                                                                                 \
    }                                                                                                                  \
    const struct conv_ukr conv_ukr_##n_win_##x##n_f_##__ref = {                                                        \
        CONV_UKR_IDENTITY(n_win_##x##n_f_, ref),                                                                       \
        .n_win = n_win_,                                                                                               \
        .n_f = n_f_,                                                                                                   \
        .win_granule = n_win_,                                                                                         \
        .f_panel = n_f_,                                                                                               \
        .emit = ukr_ref_emit,                                                                                          \
    };

REF_TILE(16, 24)
REF_TILE(16, 8)
REF_TILE(16, 6)
