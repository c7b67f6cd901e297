#include "kernels/ukr/emit_common.h"

#include <assert.h>

/* Returns the prefetches of n lines from line i of a list on; as many follow in each block. */
static struct sim_run prefetch_run(const struct conv_ahead *list, size_t i, size_t n)
{
    return (struct sim_run){
        .addr = list->addr + i * (uint64_t)list->step_bytes,
        .stride_bytes = list->step_bytes,
        .step_bytes = list->step_bytes * (int64_t)n,
        .count = (uint32_t)n,
        .access_bytes = 1,
        .kind = SIM_PREFETCH,
        .tag = (uint8_t)list->tag,
        .phase = CONV_PHASE_UKR,
    };
}

/*
 * Returns the prefetches of a block from step t on; *end becomes the end of the last block with prefetches alike: blocks
 * whose lines are all of one list, or this block alone.
 */
static size_t prefetch_runs(const struct conv_ukr_args *a, size_t t, size_t block, struct sim_run *run, size_t *end)
{
    const struct conv_ahead_lists *ahead = a->ahead;
    size_t each = ahead ? ahead->each * block : 0, left = each, n = 0, i = ahead ? ahead->each * t : 0;

    for (size_t l = 0; left && l < ahead->n; l++) {
        const struct conv_ahead *list = &ahead->list[l];
        const size_t of_list = i < list->n ? min_size(left, list->n - i) : 0;
        const size_t n_blocks = of_list == each ? (list->n - i) / each : 1;

        if (of_list) {
            *end = min_size(*end, t + n_blocks * block);
            run[n++] = prefetch_run(list, i, of_list);
        }
        left -= of_list;
        i = of_list ? 0 : i - list->n;
    }
    return n;
}

/* Emits a burst per stretch of blocks with prefetches from the same lists. */
void conv_emit_k_blocks(const struct conv_ukr_args *a, size_t first, size_t n, size_t block, struct sim_run *run,
                        size_t n_runs, struct sim_sink *sink)
{
    assert(n % block == 0);
    for (size_t t = first, end; t < first + n; t = end) {
        size_t n_prefetches;

        end = first + n;
        n_prefetches = prefetch_runs(a, t, block, run + n_runs, &end);
        sim_emit(sink, run, n_runs + n_prefetches, (end - t) / block);
        for (size_t i = 0; i < n_runs; i++)
            run[i].addr += (end - t) / block * (uint64_t)run[i].step_bytes;
    }
}

void conv_emit_k_loop(const struct conv_ukr_args *a, struct sim_run *run, size_t n_runs, struct sim_sink *sink)
{
    conv_emit_k_blocks(a, 0, a->k, 1, run, n_runs, sink);
}

void conv_emit_broadcast_loop(const struct conv_ukr *u, const struct conv_ukr_args *a, uint32_t win_bytes,
                              uint32_t win_loads, struct sim_sink *sink)
{
    uint32_t row_bytes = (uint32_t)(a->n_win * sizeof(float)); /* all elements that are read in place */
    struct sim_run run[3 + CONV_N_AHEAD] = {
        { .addr = a->in,
          .stride_bytes = u->win_panel && !a->ld_in ? (int64_t)(conv_ukr_in_step(a, u->win_panel) * sizeof(float))
                                                    : (int64_t)win_bytes,
          .step_bytes = (int64_t)(conv_ukr_ld_in(u, a) * sizeof(float)),
          .count = a->ld_in ? row_bytes / win_bytes : win_loads,
          .access_bytes = win_bytes,
          .kind = SIM_LOAD,
          .tag = (uint8_t)conv_ukr_in_tensor(a),
          .phase = CONV_PHASE_UKR },
        { .addr = a->in + row_bytes / win_bytes * win_bytes,
          .step_bytes = (int64_t)(conv_ukr_ld_in(u, a) * sizeof(float)),
          .count = a->ld_in && row_bytes % win_bytes,
          .access_bytes = row_bytes % win_bytes ? row_bytes % win_bytes : win_bytes,
          .kind = SIM_LOAD,
          .tag = (uint8_t)conv_ukr_in_tensor(a),
          .phase = CONV_PHASE_UKR },
        { .addr = a->filter,
          .stride_bytes = sizeof(float),
          .step_bytes = (int64_t)(a->n_f * sizeof(float)),
          .count = (uint32_t)a->n_f,
          .access_bytes = sizeof(float),
          .kind = SIM_LOAD,
          .tag = CONV_PACKED_FILTER,
          .phase = CONV_PHASE_UKR },
    };

    conv_emit_k_loop(a, run, 3, sink);
}
