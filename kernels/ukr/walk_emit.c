#include "kernels/ukr/walk.h"

#include <assert.h>

#include "kernels/ukr/emit_common.h"

enum {
    MOST_VECTORS = 2,
    TAP_RUNS = MOST_VECTORS + CONV_MAX_TAP_WINDOWS + CONV_N_AHEAD,
    GROUP_RUNS = WALK_MOST_GROUP * TAP_RUNS
};

static size_t filter_runs(const struct conv_ukr_args *a, size_t vector, uint64_t filter, struct sim_run *run)
{
    size_t n = 0;

    for (size_t f = 0; f < a->n_f; f += vector) {
        run[n++] = (struct sim_run){
            .addr = filter + f * sizeof(float),
            .step_bytes = (int64_t)(a->n_f * sizeof(float)),
            .count = 1,
            .access_bytes = (uint32_t)(min_size(a->n_f - f, vector) * sizeof(float)),
            .kind = SIM_LOAD,
            .tag = CONV_PACKED_FILTER,
            .phase = CONV_PHASE_UKR,
        };
    }
    return n;
}

/* The live windows of a tap: runs of neighbours at equal distances. */
static size_t window_runs(const struct conv_ukr_args *a, const struct conv_taps *taps, const struct walk_tile *tile,
                          uint64_t in, uint32_t live, struct sim_run *run)
{
    const int64_t *at = taps->window_bytes + tile->first;
    int64_t apart = tile->n_win > 1 ? at[1] - at[0] : 0;
    size_t n = 0, before = SIZE_MAX;

    for (size_t w = 0; w < tile->n_win; w++) {
        bool follows = n && before + 1 == w && at[w] - at[before] == apart;

        if (!(live >> (tile->first + w) & 1))
            continue;
        before = w;
        if (follows) {
            run[n - 1].count++;
            continue;
        }
        run[n++] = (struct sim_run){
            .addr = in + (uint64_t)at[w],
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

/* Lists the loads of tap number t; nothing if no window is live. */
static size_t tap_runs(const struct conv_ukr_args *a, const struct conv_taps *taps, const struct walk_tile *tile,
                       size_t t, struct sim_run *run)
{
    size_t n_taps = taps->r * taps->s, fh = t % n_taps / taps->s, fw = t % taps->s, n = 0;
    uint64_t in = a->in + t / n_taps * (uint64_t)taps->channel_bytes + fh * (uint64_t)taps->row_bytes +
                  fw * (uint64_t)taps->column_bytes;
    uint64_t filter = a->filter + t * a->n_f * sizeof(float);
    uint32_t live = taps->row_live[fh] & taps->column_live[fw];

    if (!(live >> tile->first & ((1u << tile->n_win) - 1)))
        return 0;
    n = filter_runs(a, tile->vector, filter, run);
    return n + window_runs(a, taps, tile, in, live, run + n);
}

/* A single tap makes one k loop; several taps are emitted group by group. */
void walk_emit(const struct conv_ukr_args *a, const struct conv_taps *taps, const struct walk_tile *tile,
               struct sim_sink *sink)
{
    const size_t group = tile->group, n_steps = a->ahead ? a->ahead->n_steps : 0;
    size_t n_loops = taps->r * taps->s == 1 ? 1 : a->k / group;

    assert(a->n_f <= MOST_VECTORS * tile->vector && a->k % group == 0);
    for (size_t t = 0; t < n_loops * group; t += group) {
        struct sim_run run[GROUP_RUNS];
        size_t n = 0;

        for (size_t g = 0; g < group; g++)
            n += tap_runs(a, taps, tile, t + g, run + n);
        if (n || t < n_steps)
            conv_emit_k_blocks(a, t, a->k / n_loops, group, run, n, sink);
    }
}
