/* What 14x32 touches (f32_14x32_avx512.c), and its descriptor. */
#include "kernels/ukr/avx512/f32_14x32_avx512.h"
#include "kernels/ukr/emit_common.h"

static size_t step_fmas(size_t n_win, size_t n_f)
{
    return n_win * vectors(n_f);
}

static size_t step_loads(size_t n_win, size_t n_f)
{
    return n_win + vectors(n_f);
}

/* The filters of one tap. */
static size_t filter_runs(const struct conv_ukr_args *a, uint64_t filter, struct sim_run *run)
{
    size_t n = 0;

    for (size_t f = 0; f < a->n_f; f += VECTOR) {
        run[n++] = (struct sim_run){
            .addr = filter + f * sizeof(float),
            .step_bytes = (int64_t)(a->n_f * sizeof(float)),
            .count = 1,
            .access_bytes = (uint32_t)((a->n_f - f < VECTOR ? a->n_f - f : VECTOR) * sizeof(float)),
            .kind = SIM_LOAD,
            .tag = CONV_PACKED_FILTER,
            .phase = CONV_PHASE_UKR,
        };
    }
    return n;
}

/* The live windows of one tap: runs of neighbours that are equally far apart. */
static size_t window_runs(const struct conv_ukr_args *a, const struct conv_taps *taps, uint64_t in, uint32_t live,
                          struct sim_run *run)
{
    int64_t apart = a->n_win > 1 ? taps->window_bytes[1] - taps->window_bytes[0] : 0;
    size_t n = 0, before = SIZE_MAX;

    for (size_t w = 0; w < a->n_win; w++) {
        bool follows = n && before + 1 == w && taps->window_bytes[w] - taps->window_bytes[before] == apart;

        if (!(live >> w & 1))
            continue;
        before = w;
        if (follows) {
            run[n - 1].count++;
            continue;
        }
        run[n++] = (struct sim_run){
            .addr = in + (uint64_t)taps->window_bytes[w],
            .stride_bytes = apart,
            .step_bytes = taps->channel_bytes,
            .count = 1,
            .access_bytes = sizeof(float),
            .kind = SIM_LOAD,
            .tag = (uint8_t)conv_ukr_in_tensor(a),
            .phase = CONV_PHASE_UKR,
        };
    }
    return n;
}

enum { TAP_RUNS = N_F / VECTOR + N_WIN + CONV_N_AHEAD };

/* Single taps make one k loop; the others are emitted tap by tap, with what each step prefetches. */
static void emit_taps(const struct conv_ukr_args *a, const struct conv_taps *taps, struct sim_sink *sink)
{
    size_t n_taps = taps->r * taps->s, n_loops = n_taps == 1 ? 1 : a->k;
    for (size_t t = 0; t < n_loops; t++) {
        size_t fh = t % n_taps / taps->s, fw = t % taps->s;
        uint64_t in = a->in + t / n_taps * (uint64_t)taps->channel_bytes + fh * (uint64_t)taps->row_bytes +
                      fw * (uint64_t)taps->column_bytes;
        uint32_t live = taps->row_live[fh] & taps->column_live[fw];
        struct sim_run run[TAP_RUNS];
        size_t n = 0;

        if (live) {
            n = filter_runs(a, a->filter + t * a->n_f * sizeof(float), run);
            n += window_runs(a, taps, in, live, run + n);
        }
        if (n || (a->ahead && t < a->ahead->n_steps))
            conv_emit_k_blocks(a, t, a->k / n_loops, 1, run, n, sink);
    }
}

static void emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    const struct conv_taps single = a->taps ? *a->taps : single_tap(u, a);

    emit_taps(a, &single, sink);
    conv_emit_tile_update(a, 64, sink);
}

const struct conv_ukr conv_ukr_14x32__avx512 = {
    CONV_UKR_IDENTITY(14x32, avx512),
    .n_win = N_WIN,
    .n_f = N_F,
    .win_granule = N_WIN,
    .f_panel = N_F,
    .reads_in_place = true,
    .walk = CONV_WALK_ANY,
    .prefetches = true,
    .step_fmas = step_fmas,
    .step_loads = step_loads,
    .emit = emit,
};
