/*
 * Lists the accesses of the AVX-512 routines that pack windows into lanes of several channels (lane_pack_avx512.h), and
 * the descriptors: of each row of a panel, and of each segment, a masked load for each channel; then a store of the row.
 */
#include "kernels/ukr/lanes.h"
#include "kernels/ukr/registry.h"

enum { WIDTH = 16, ROW_BYTES = WIDTH * CONV_LANE_BYTES };

static struct sim_run segment_loads(const struct conv_pack_windows_args *a, const struct conv_lane_part *part,
                                    size_t channel)
{
    const struct conv_type_facts *type = &conv_types[a->p->type];
    const size_t bytes = type->bytes[CONV_INPUT], plane = a->p->h * a->p->w;

    return (struct sim_run){
        .addr = a->in + (channel * plane + part->element) * bytes,
        .stride_bytes = (int64_t)(plane * bytes),
        .count = (uint32_t)min_size(type->lane_channels, a->n_c - channel),
        .access_bytes = (uint32_t)(part->span * bytes),
        .kind = SIM_LOAD,
        .tag = (uint8_t)a->tag,
        .phase = CONV_PHASE_PACK,
    };
}

static void emit_row(const struct conv_pack_windows_args *a, const struct conv_tile *t, size_t channel, size_t tap,
                     struct sim_sink *sink)
{
    const struct conv_problem *p = a->p;
    const size_t row = channel / conv_types[p->type].lane_channels * p->r * p->s + tap;
    struct sim_run run[WIDTH + 1];
    size_t n = 0;

    for (size_t g = 0; g < t->n_segments; g++) {
        const struct conv_lane_part part = conv_lane_part(p, &t->segment[g], tap / p->s, tap % p->s);

        if (part.n)
            run[n++] = segment_loads(a, &part, channel);
    }
    run[n++] = (struct sim_run){
        .addr = t->panel + row * ROW_BYTES,
        .count = 1,
        .access_bytes = ROW_BYTES,
        .kind = SIM_STORE,
        .tag = CONV_PACKED_INPUT,
        .phase = CONV_PHASE_PACK,
    };
    sim_emit(sink, run, n, 1);
}

static void emit_windows(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a,
                         struct sim_sink *sink)
{
    struct conv_tiles tiles;

    (void)self;
    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        for (size_t channel = 0; channel < a->n_c; channel += conv_types[a->p->type].lane_channels)
            for (size_t tap = 0; tap < a->p->r * a->p->s; tap++)
                for (size_t t = 0; t < tiles.n; t++)
                    emit_row(a, &tiles.tile[t], channel, tap, sink);
    }
}

static bool has_short_stride(const struct conv_problem *p)
{
    return p->stride_w <= 2;
}

#define PACKER(number, type)                                                                                           \
    const struct conv_pack_windows conv_pack_windows_##type##__avx512 = {                                              \
        .name = "pack_windows__avx512",                                                                                \
        .isa = CPU_ISA_AVX512,                                                                                         \
        .granule = WIDTH,                                                                                              \
        .max_width = WIDTH,                                                                                            \
        .fn = CONV_X86_FN(conv_pack_lanes_##type##__avx512),                                                           \
        .emit = emit_windows,                                                                                          \
        .can_pack = has_short_stride,                                                                                  \
        .vector_bytes = ROW_BYTES,                                                                                     \
    };
CONV_LANE_TYPES(PACKER)
