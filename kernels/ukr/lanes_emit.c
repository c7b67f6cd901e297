/* Lists the accesses of the micro-kernels of types with several channels in a lane, and the descriptors. */
#include "kernels/ukr/emit_common.h"
#include "kernels/ukr/lanes.h"
#include "kernels/ukr/registry.h"

static struct sim_run lane_loads(enum conv_tensor tag, uint64_t addr, size_t n, size_t step_lanes)
{
    return (struct sim_run){
        .addr = addr,
        .stride_bytes = CONV_LANE_BYTES,
        .step_bytes = (int64_t)(step_lanes * CONV_LANE_BYTES),
        .count = (uint32_t)n,
        .access_bytes = CONV_LANE_BYTES,
        .kind = SIM_LOAD,
        .tag = (uint8_t)tag,
        .phase = CONV_PHASE_UKR,
    };
}

/* Emits the loads of n filters' starts, and returns the address of the first step's filters. */
static uint64_t emit_head(const struct conv_ukr *u, const struct conv_ukr_args *a, size_t f0, size_t n,
                          struct sim_sink *sink)
{
    const size_t head = conv_types[u->type].head;
    const struct sim_run run = lane_loads(CONV_PACKED_FILTER, a->filter + f0 * CONV_LANE_BYTES, n, 0);

    if (head)
        sim_emit(sink, &run, 1, 1);
    return a->filter + head * a->n_f * CONV_LANE_BYTES;
}

/* ---- portable: block by block ---- */

static void emit_block(const struct conv_ukr *u, const struct conv_ukr_args *a, size_t win0, size_t f0,
                       struct sim_sink *sink)
{
    struct conv_ukr_args part = *a;
    struct sim_run run[2];
    uint64_t steps;

    part.n_f = min_size(CONV_LANES_BLOCK_F, a->n_f - f0);
    part.n_win = min_size(CONV_LANES_BLOCK_WIN, a->n_win - win0);
    part.out += (f0 * a->ld_out + win0) * CONV_LANE_BYTES;
    steps = emit_head(u, a, f0, part.n_f, sink);
    run[0] = lane_loads(CONV_PACKED_INPUT, a->in + win0 * CONV_LANE_BYTES, CONV_LANES_BLOCK_WIN,
                        conv_ukr_in_width(u, a->n_win));
    run[1] = lane_loads(CONV_PACKED_FILTER, steps + f0 * CONV_LANE_BYTES, part.n_f, a->n_f);
    sim_emit(sink, run, 2, a->k);
    conv_emit_tile_update(&part, CONV_LANE_BYTES, sink);
}

static void emit_ref(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    for (size_t win0 = 0; win0 < a->n_win; win0 += CONV_LANES_BLOCK_WIN) {
        for (size_t f0 = 0; f0 < a->n_f; f0 += CONV_LANES_BLOCK_F)
            emit_block(u, a, win0, f0, sink);
    }
}

/* ---- AVX-512: a load of 16 windows and a broadcast for each filter ---- */

enum { VECTOR_BYTES = 64 };

static size_t step_fmas(size_t n_win, size_t n_f)
{
    (void)n_win;
    return n_f;
}

static size_t step_loads(size_t n_win, size_t n_f)
{
    (void)n_win;
    return 1 + n_f;
}

static void emit_avx512(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    struct conv_ukr_args steps = *a;

    steps.filter = emit_head(u, a, 0, a->n_f, sink);
    conv_emit_broadcast_loop(u, &steps, VECTOR_BYTES, 1, sink);
    conv_emit_tile_update(a, VECTOR_BYTES, sink);
}

#define MEMBERS_ref .emit = emit_ref
#define MEMBERS_avx512 .chains = true, .step_fmas = step_fmas, .step_loads = step_loads, .emit = emit_avx512

#define TILE(type_, tile, isa, extension)                                                                              \
    const struct conv_ukr conv_ukr_##type_##_##tile##__##isa = {                                                       \
        CONV_LANE_UKR_IDENTITY(LANE_TYPE_##type_, type_, tile, isa, extension),                                        \
        .n_win = 16,                                                                                                   \
        .n_f = 24,                                                                                                     \
        .win_granule = 16,                                                                                             \
        .f_panel = 24,                                                                                                 \
        MEMBERS_##isa,                                                                                                 \
    };
#define LANE_TYPE_bf16 CONV_BF16
#define LANE_TYPE_u8s8 CONV_U8S8
#define LANE_TYPE_s8s8 CONV_S8S8
#define TILES(number, type) CONV_UKRS_##type(TILE)
CONV_LANE_TYPES(TILES)
