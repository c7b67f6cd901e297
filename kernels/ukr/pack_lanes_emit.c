/*
 * Lists the accesses of the AVX-512 routines that pack windows into lanes of several channels (lane_pack_avx512.h), and
 * the descriptors: for each lane, loads of the lines' channels, 16 columns at a time; then a store for each row of the
 * panels. Pointwise: for each row, loads and a store.
 */
#include "kernels/ukr/lanes.h"
#include "kernels/ukr/pack_bands.h"
#include "kernels/ukr/registry.h"

enum { ROW_BYTES = CONV_BAND_WIDTH * CONV_LANE_BYTES };

/* A lane of channels, and the lane's first row in a panel. */
struct lane {
    const struct conv_pack_windows_args *a;
    size_t channel, row;
};

/* Loads of n elements of each channel from the element `first` on. */
static struct sim_run loads(const struct lane *l, int64_t first, size_t n)
{
    const struct conv_problem *p = l->a->p;
    const struct conv_type_facts *type = &conv_types[p->type];
    const size_t bytes = type->bytes[CONV_INPUT], plane = p->h * p->w;

    return (struct sim_run){
        .addr = l->a->in + (l->channel * plane + (size_t)first) * bytes,
        .stride_bytes = (int64_t)(plane * bytes),
        .step_bytes = (int64_t)(CONV_BAND_WIDTH * bytes),
        .count = (uint32_t)min_size(type->lane_channels, l->a->n_c - l->channel),
        .access_bytes = (uint32_t)(n * bytes),
        .kind = SIM_LOAD,
        .tag = (uint8_t)l->a->tag,
        .phase = CONV_PHASE_PACK,
    };
}

static struct sim_run stores(const struct lane *l, const struct conv_tile *tile, size_t n)
{
    return (struct sim_run){
        .addr = tile->panel + l->row * ROW_BYTES,
        .stride_bytes = ROW_BYTES,
        .count = (uint32_t)n,
        .access_bytes = ROW_BYTES,
        .kind = SIM_STORE,
        .tag = CONV_PACKED_INPUT,
        .phase = CONV_PHASE_PACK,
    };
}

/* Returns how many of n loads follow each other, 16 elements each. */
static size_t burst(const struct conv_band_load *load, size_t n)
{
    size_t same = 1;

    while (same < n && load[same].mask == UINT16_MAX && load[same - 1].mask == UINT16_MAX &&
           load[same].first == load[same - 1].first + CONV_BAND_WIDTH)
        same++;
    return same;
}

static void emit_lines(const struct lane *l, const struct conv_bands *bands, struct sim_sink *sink)
{
    for (size_t i = 0, n; i < bands->n_loads; i += n) {
        const struct conv_band_load *load = &bands->load[i];

        n = burst(load, bands->n_loads - i);
        if (load->mask) {
            const struct sim_run run =
                loads(l, load->first + __builtin_ctz(load->mask), (size_t)__builtin_popcount(load->mask));

            sim_emit(sink, &run, 1, n);
        }
    }
}

static void emit_with_bands(const struct conv_pack_windows_args *a, const struct conv_tile *tile, size_t n_tiles,
                            const struct conv_bands *bands, struct sim_sink *sink)
{
    const size_t taps = a->p->r * a->p->s;
    struct lane l = { .a = a };

    for (; l.channel < a->n_c; l.channel += conv_types[a->p->type].lane_channels, l.row += taps) {
        emit_lines(&l, bands, sink);
        for (size_t t = 0; t < n_tiles; t++) {
            const struct sim_run run = stores(&l, &tile[t], taps);

            sim_emit(sink, &run, 1, 1);
        }
    }
}

/* Emits the rows of a tile from a lane on: whole lanes are a burst. */
static void emit_pointwise(struct lane l, const struct conv_tile *tile, struct sim_sink *sink)
{
    const struct conv_problem *p = l.a->p;
    const size_t n_channels = conv_types[p->type].lane_channels;
    const size_t n_c = min_size(CONV_BAND_POINTWISE * n_channels, l.a->n_c - l.channel), n = n_c / n_channels;
    struct sim_run run[] = { loads(&l, tile->segment[0].iw0, tile->n_win), stores(&l, tile, 1) };

    run[0].step_bytes = (int64_t)n_channels * run[0].stride_bytes;
    run[1].step_bytes = ROW_BYTES;
    if (n)
        sim_emit(sink, run, 2, n);
    l.channel += n * n_channels;
    l.row += n;
    run[0] = loads(&l, tile->segment[0].iw0, tile->n_win);
    run[1] = stores(&l, tile, 1);
    if (n_c % n_channels)
        sim_emit(sink, run, 2, 1);
}

static void emit_without_bands(const struct conv_pack_windows_args *a, const struct conv_tiles *tiles,
                               struct sim_sink *sink)
{
    const size_t n_channels = conv_types[a->p->type].lane_channels;

    for (size_t c = 0; c < a->n_c; c += CONV_BAND_POINTWISE * n_channels)
        for (size_t t = 0; t < tiles->n; t++)
            emit_pointwise((struct lane){ .a = a, .channel = c, .row = c / n_channels }, &tiles->tile[t], sink);
}

static void emit_windows(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a,
                         struct sim_sink *sink)
{
    const size_t at_once = conv_bands_tiles(a->p);
    struct conv_tiles tiles;
    struct conv_bands bands;

    (void)self;
    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        if (conv_bands_need_none(a->p)) {
            emit_without_bands(a, &tiles, sink);
            continue;
        }
        for (size_t t = 0, some; t < tiles.n; t += some) {
            some = min_size(at_once, tiles.n - t);
            conv_bands_of(a->p, &tiles, t, some, &bands);
            emit_with_bands(a, &tiles.tile[t], some, &bands, sink);
        }
    }
}

static bool can_pack(const struct conv_problem *p)
{
    return conv_bands_tiles(p) > 0;
}

#define PACKER(number, type)                                                                                           \
    const struct conv_pack_windows conv_pack_windows_##type##__avx512 = {                                              \
        .name = "pack_windows__avx512",                                                                                \
        .isa = CPU_ISA_AVX512,                                                                                         \
        .granule = CONV_BAND_WIDTH,                                                                                    \
        .max_width = CONV_BAND_WIDTH,                                                                                  \
        .fn = CONV_X86_FN(conv_pack_lanes_##type##__avx512),                                                           \
        .emit = emit_windows,                                                                                          \
        .can_pack = can_pack,                                                                                          \
        .vector_bytes = ROW_BYTES,                                                                                     \
    };
CONV_LANE_TYPES(PACKER)
