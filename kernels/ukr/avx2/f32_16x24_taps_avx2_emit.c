/* Lists the accesses of 16x24 that walks taps with AVX2 (f32_16x24_taps_avx2.c), and its descriptor. */
#include "kernels/ukr/avx2/f32_16x24_avx2.h"
#include "kernels/ukr/emit_common.h"

enum { VECTOR = 8, MOST_GROUP = 5, TAP_RUNS = MOST_GROUP * (9 + 2 + CONV_N_AHEAD) };

static size_t step_fmas(size_t n_win, size_t n_f)
{
    return conv_ukr_16x24__avx2.step_fmas(n_win, n_f);
}

static size_t step_loads(size_t n_win, size_t n_f)
{
    return conv_ukr_16x24__avx2.step_loads(n_win, n_f);
}

static struct sim_run load(uint64_t addr, size_t bytes, size_t count, enum conv_tensor tag)
{
    return (struct sim_run){ .addr = addr,
                             .stride_bytes = (int64_t)bytes,
                             .count = (uint32_t)count,
                             .access_bytes = (uint32_t)bytes,
                             .kind = SIM_LOAD,
                             .tag = (uint8_t)tag,
                             .phase = CONV_PHASE_UKR };
}

/* Lists the elements from the first to the last live window of each vector; then a broadcast per filter. */
static size_t wide_runs(const struct conv_ukr_args *a, uint64_t in, uint32_t live, uint64_t filter, struct sim_run *run)
{
    size_t n = 0;

    for (size_t v = 0; live >> v * VECTOR; v++) {
        uint32_t lanes = live >> v * VECTOR & ((1u << VECTOR) - 1);
        size_t first = lanes ? (size_t)__builtin_ctz(lanes) : 0, end = lanes ? 32 - (size_t)__builtin_clz(lanes) : 0;

        if (lanes)
            run[n++] = load(in + (v * VECTOR + first) * sizeof(float), (end - first) * sizeof(float), 1, CONV_INPUT);
    }
    run[n++] = load(filter, sizeof(float), a->n_f, CONV_PACKED_FILTER);
    return n;
}

/* The filters of the panel; then a broadcast per live window. */
static size_t few_runs(const struct conv_ukr_args *a, uint64_t in, uint32_t live, uint64_t filter, struct sim_run *run)
{
    size_t n = 0;

    run[n++] = load(filter, 16, 1, CONV_PACKED_FILTER);
    if (a->n_f > 4)
        run[n++] = load(filter + 16, 8, 1, CONV_PACKED_FILTER);
    for (size_t w = 0; w < a->n_win; w++) {
        if (live >> w & 1)
            run[n++] = load(in + w * sizeof(float), sizeof(float), 1, CONV_INPUT);
    }
    return n;
}

/* Lists the loads of a panel's taps t .. t + group - 1, which are of one row; nothing if no tap has a live window. */
static size_t row_runs(const struct conv_ukr_args *a, size_t t, size_t group, struct sim_run *run)
{
    const struct conv_taps *taps = a->taps;
    size_t n_taps = taps->r * taps->s, fh = t % n_taps / taps->s, fw = t % taps->s, n = 0;
    uint64_t in = a->in + t / n_taps * (uint64_t)taps->channel_bytes + fh * (uint64_t)taps->row_bytes;
    uint32_t some = 0;

    for (size_t g = 0; g < group; g++)
        some |= taps->row_live[fh] & taps->column_live[fw + g];
    for (size_t g = 0; some && g < group; g++) {
        uint64_t at = in + (fw + g) * (uint64_t)taps->column_bytes;
        uint64_t filter = a->filter + (t + g) * a->n_f * sizeof(float);

        n += (is_few(a->n_win, a->n_f) ? few_runs : wide_runs)(a, at, taps->row_live[fh] & taps->column_live[fw + g],
                                                               filter, run + n);
    }
    return n;
}

/* A panel, group by group of taps, with the prefetches of each group. */
static void emit_walk(const struct conv_ukr_args *a, struct sim_sink *sink)
{
    const size_t group = tap_group(a->taps);

    for (size_t t = 0; t < a->k; t += group) {
        struct sim_run run[TAP_RUNS];
        size_t n = row_runs(a, t, group, run);

        if (n || (a->ahead && t < a->ahead->n_steps))
            conv_emit_k_blocks(a, t, group, group, run, n, sink);
    }
}

static void emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    (void)u;
    if (!a->taps) {
        conv_ukr_16x24__avx2.emit(&conv_ukr_16x24__avx2, a, sink);
        return;
    }
    for (size_t f = 0; f < a->n_f; f += F_PANEL) {
        const struct conv_ukr_args part = panel(a, f);

        emit_walk(&part, sink);
        emit_update(&part, sink);
    }
}

const struct conv_ukr conv_ukr_16x24_taps__avx2 = {
    CONV_UKR_IDENTITY(16x24_taps, avx2),
    .n_win = 16,
    .n_f = N_F,
    .win_granule = 16,
    .f_panel = F_PANEL,
    .reads_in_place = true,
    .walk = CONV_WALK_SAME,
    .prefetches = true,
    .chains = true,
    .step_fmas = step_fmas,
    .step_loads = step_loads,
    .emit = emit,
};
