#include "kernels/ukr/pack_patches.h"

#include "kernels/ukr/element.h"
#include "kernels/ukr/registry.h"

static bool can_pack(const struct conv_problem *p)
{
    return p->stride_w > 2 && p->s > 1 && p->dilation_w == 1 && !conv_has_padding(p);
}

struct emission {
    struct sim_sink *sink;
    enum conv_tensor tag; /* tag of the input */
};

static struct sim_run run_of(enum sim_kind kind, enum conv_tensor tag, uint64_t addr, size_t floats)
{
    return (struct sim_run){ .addr = addr,
                             .count = 1,
                             .access_bytes = (uint32_t)(floats * sizeof(float)),
                             .kind = (uint8_t)kind,
                             .tag = (uint8_t)tag,
                             .phase = CONV_PHASE_PACK };
}

static void emit_patch(void *ctx, const struct patch *patch)
{
    const struct emission *e = ctx;
    struct sim_run run[PATCH_WIN + 1];
    size_t n = 0;

    for (size_t j = 0; j < PATCH_WIN; j++) {
        size_t window = j / 4 + j % 4 * 4;

        if (window < patch->n_win)
            run[n++] = run_of(SIM_LOAD, e->tag, patch->in[window], patch->n_taps);
    }
    run[n] = run_of(SIM_STORE, CONV_PACKED_INPUT, patch->panel, PATCH_WIN);
    run[n].count = (uint32_t)patch->n_taps;
    run[n].stride_bytes = PATCH_WIN * sizeof(float);
    sim_emit(e->sink, run, n + 1, 1);
}

static void emit(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a, struct sim_sink *sink)
{
    struct emission e = { sink, a->tag };

    (void)self;
    patches(a, emit_patch, &e);
}

const struct conv_pack_windows conv_pack_windows__patches = {
    .name = "pack_patches__avx512",
    .isa = CONV_ISA_patches,
    .granule = PATCH_WIN,
    .max_width = PATCH_WIN,
    .fn = CONV_FN_patches(conv_pack_patches_fn__avx512),
    .emit = emit,
    .can_pack = can_pack,
};
