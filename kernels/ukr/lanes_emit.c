/* Lists the accesses of the micro-kernels of types with several channels in a lane, and the descriptors. */
#include "kernels/ukr/amx/amx_form.h"
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
    const size_t head = conv_ukr_head(u);
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

/* ---- AMX: rows of tile registers (amx/amx_form.h) ---- */

static struct sim_run row_run(enum sim_kind kind, enum conv_tensor tag, uint64_t addr, size_t step_bytes, size_t rows,
                              size_t row_bytes)
{
    return (struct sim_run){
        .addr = addr,
        .stride_bytes = (int64_t)step_bytes,
        .count = (uint32_t)rows,
        .access_bytes = (uint32_t)row_bytes,
        .kind = (uint8_t)kind,
        .tag = (uint8_t)tag,
        .phase = CONV_PHASE_UKR,
    };
}

/* Emits n equal blocks of `steps` steps; *a moves on. */
static void emit_blocks(struct conv_ukr_args *a, const struct amx_form *form, size_t steps, size_t n,
                        struct sim_sink *sink)
{
    const size_t row_bytes = steps * CONV_LANE_BYTES, in_panel = conv_ukr_in_step(a, AMX_WINDOWS) * CONV_LANE_BYTES;
    const struct sim_run windows = row_run(SIM_LOAD, CONV_PACKED_INPUT, a->in, AMX_ROW_BYTES, steps, AMX_ROW_BYTES);
    const struct sim_run filters = row_run(SIM_LOAD, CONV_PACKED_FILTER, a->filter, row_bytes, form->rows, row_bytes);
    struct sim_run run[5] = { windows, filters };
    size_t n_runs = 2;

    if (form->n_f == 2) {
        run[n_runs] = filters;
        run[n_runs++].addr += form->f1 * row_bytes;
    }
    if (form->n_w == 2) {
        run[n_runs] = windows;
        run[n_runs++].addr += in_panel;
    }
    if (form->n_f == 2 && form->n_w == 2 && form->tail)
        run[n_runs++] = filters;
    for (size_t i = 0; i < n_runs; i++)
        run[i].step_bytes = (int64_t)(run[i].tag == CONV_PACKED_INPUT ? steps * AMX_ROW_BYTES : a->n_f * row_bytes);
    sim_emit(sink, run, n_runs, n);
    a->in += n * steps * AMX_ROW_BYTES;
    a->filter += n * a->n_f * row_bytes;
}

/* Emits the loads or stores of sums: rows of outputs by row or, of fewer windows, by pieces. */
static void emit_sums(const struct conv_ukr_args *a, const struct amx_form *form, size_t f, size_t w,
                      enum sim_kind kind, struct sim_sink *sink)
{
    const size_t n = amx_windows(a, w), first = f * form->f1, row_bytes = a->ld_out * CONV_LANE_BYTES;
    const uint64_t out = a->out + first * row_bytes + w * AMX_ROW_BYTES;
    const size_t piece = AMX_PIECE * CONV_LANE_BYTES, pieces = n / AMX_PIECE;
    struct sim_run run[2] = { row_run(kind, CONV_OUTPUT, out, row_bytes, form->rows, AMX_ROW_BYTES) };

    if (kind == SIM_LOAD && !a->accumulate)
        return;
    if (n == AMX_WINDOWS) {
        sim_emit(sink, run, 1, 1);
        return;
    }
    run[0] = row_run(kind, CONV_OUTPUT, out, piece, pieces, piece);
    run[1] = row_run(kind, CONV_OUTPUT, out + pieces * piece, CONV_LANE_BYTES, n % AMX_PIECE, CONV_LANE_BYTES);
    run[0].step_bytes = run[1].step_bytes = (int64_t)row_bytes;
    sim_emit(sink, run, 2, form->rows);
}

static void emit_all_sums(const struct conv_ukr_args *a, const struct amx_form *form, enum sim_kind kind,
                          struct sim_sink *sink)
{
    for (size_t f = 0; f < form->n_f; f++)
        for (size_t w = 0; w < form->n_w; w++)
            emit_sums(a, form, f, w, kind, sink);
}

static void emit_amx(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    const struct amx_form form = amx_form_of(a);
    struct conv_ukr_args steps = *a;

    (void)u;
    emit_all_sums(a, &form, SIM_LOAD, sink);
    if (form.n_blocks)
        emit_blocks(&steps, &form, AMX_STEPS, form.n_blocks, sink);
    if (form.tail)
        emit_blocks(&steps, &form, form.tail, 1, sink);
    emit_all_sums(a, &form, SIM_STORE, sink);
}

/* A product of 16 steps takes a cycle for each row of its filters, as long as two multiply-adds of vectors. */
static size_t amx_step_fmas(size_t n_win, size_t n_f)
{
    return ceil_div(2 * ceil_div(n_win, AMX_WINDOWS) * n_f, AMX_ROWS);
}

/* Rows that a step loads: of each register, a row a step; where there is a tail, a block of filters is loaded twice. */
static size_t amx_step_loads(size_t n_win, size_t n_f)
{
    return ceil_div(n_win, AMX_WINDOWS) + ceil_div(n_f, AMX_ROWS);
}

/* ---- descriptors ---- */

#define MEMBERS_ref .n_win = 16, .n_f = 24, .f_panel = 24, .emit = emit_ref
#define MEMBERS_avx512                                                                                                 \
    .n_win = 16, .n_f = 24, .f_panel = 24, .chains = true, .step_fmas = step_fmas, .step_loads = step_loads,           \
    .emit = emit_avx512
#define MEMBERS_amx                                                                                                    \
    .n_win = 2 * AMX_WINDOWS, .n_f = 2 * AMX_ROWS, .win_panel = AMX_WINDOWS, .f_panel = 2 * AMX_ROWS,                  \
    .k_block = AMX_STEPS, .chains = true, .has_signed = true, .release = CONV_FN_amx(conv_tiles_release__amx),         \
    .step_fmas = amx_step_fmas, .step_loads = amx_step_loads, .emit = emit_amx

#define TILE(type_, tile, isa, extension)                                                                              \
    const struct conv_ukr conv_ukr_##type_##_##tile##__##isa = {                                                       \
        CONV_LANE_UKR_IDENTITY(LANE_TYPE_##type_, type_, tile, isa, extension),                                        \
        .win_granule = 16,                                                                                             \
        MEMBERS_##isa,                                                                                                 \
    };
#define LANE_TYPE_bf16 CONV_BF16
#define LANE_TYPE_u8s8 CONV_U8S8
#define LANE_TYPE_s8s8 CONV_S8S8
#define TILES(number, type) CONV_UKRS_##type(TILE)
CONV_LANE_TYPES(TILES)
