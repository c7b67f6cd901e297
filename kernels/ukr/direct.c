#include "kernels/ukr/direct.h"

#include <assert.h>

#include "kernels/ukr/direct_forms.h"
#include "kernels/ukr/dot_tile.h"
#include "kernels/ukr/pointwise_tile.h"
#include "kernels/ukr/registry.h"

#define DIRECT(isa_, lanes_, max_stride_)                                                                              \
    { .name = "f32_direct_8x" #lanes_ "__" #isa_,                                                                      \
      .isa = CONV_ISA_##isa_,                                                                                          \
      .form = &conv_direct_columns_form,                                                                               \
      .lanes = lanes_,                                                                                                 \
      .max_stride = max_stride_,                                                                                       \
      .fn = CONV_FN_##isa_(conv_f32_direct__##isa_),                                                                   \
      .emit = conv_direct_emit_columns },

#define MOST(n, most) most,
#define TILED(form_, isa_, tiles)                                                                                      \
    {                                                                                                                  \
        .name = "f32_" #form_ "_" tiles "__" #isa_, .isa = CONV_ISA_##isa_, .form = &conv_direct_##form_##_form,       \
        .lanes = CONV_DIRECT_LANES__##isa_, .fn = CONV_FN_##isa_(conv_f32_##form_##__##isa_),                          \
        .emit = conv_direct_emit_##form_,
#define POINTWISE(isa, sums)                                                                                           \
    TILED(pointwise, isa, sums).tile = { CONV_POINTWISE_TILES__##isa(MOST) }                                           \
    }                                                                                                                  \
    ,
#define DOT(isa, sums)                                                                                                 \
    TILED(dot, isa, sums).tile = { CONV_DOT_TILES__##isa(MOST) }                                                       \
    }                                                                                                                  \
    ,

static const struct conv_direct table[] = { CONV_DIRECTS(DIRECT) CONV_POINTWISES(POINTWISE) CONV_DOTS(DOT) };

size_t conv_direct_count(void)
{
    return sizeof table / sizeof table[0];
}

const struct conv_direct *conv_direct_at(size_t i)
{
    assert(i < conv_direct_count());
    return &table[i];
}

bool conv_direct_runs(const struct conv_direct *d)
{
    return d->fn && sim_cpu_has(d->isa);
}

bool conv_direct_suits(const struct conv_direct *d, const struct conv_problem *p)
{
    return d->form->suits(d, p);
}

double conv_direct_slots(const struct conv_direct *d, const struct conv_problem *p)
{
    assert(conv_direct_suits(d, p));
    return d->form->slots(d, p);
}

uint64_t conv_direct_fmas(const struct conv_direct *d, const struct conv_problem *p, size_t n_rows, size_t n_f)
{
    return d->form->fmas(d, p, n_rows, n_f);
}

double conv_direct_reread_bytes(const struct conv_direct *d, const struct conv_problem *p)
{
    return d->form->reread_bytes(d, p);
}

/* Finds the kernel with the fewest slots, of the portable kernels or of the kernels that need an instruction set. */
static const struct conv_direct *fewest_slots(const struct conv_problem *p, enum cpu_isa isa, bool is_portable)
{
    const struct conv_direct *best = NULL;

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct conv_direct *d = &table[i];

        if (is_portable == (d->isa == CPU_ISA_NONE) && sim_cpu_isa_includes(isa, d->isa) && conv_direct_suits(d, p) &&
            (!best || conv_direct_slots(d, p) < conv_direct_slots(best, p)))
            best = d;
    }
    return best;
}

const struct conv_direct *conv_direct_for(const struct conv_problem *p, enum cpu_isa isa)
{
    const struct conv_direct *best = fewest_slots(p, isa, false);

    return best ? best : fewest_slots(p, isa, true);
}
