#include "kernels/ukr/emit_common.h"

#include <assert.h>

/* Returns the prefetches of a list at step t and every `block` steps after. */
static struct sim_run prefetch_run(const struct conv_ahead *ahead, size_t t, size_t block)
{
    return (struct sim_run){
        .addr = ahead->addr + t * (uint64_t)ahead->step_bytes,
        .step_bytes = ahead->step_bytes * (int64_t)block,
        .count = 1,
        .access_bytes = 1,
        .kind = SIM_PREFETCH,
        .tag = (uint8_t)ahead->tag,
        .phase = CONV_PHASE_UKR,
    };
}

/* Returns the prefetches of a block from step t on; *end becomes the end of the last block with equal prefetches. */
static size_t prefetch_runs(const struct conv_ukr_args *a, size_t t, size_t block, struct sim_run *run, size_t *end)
{
    size_t n = 0;

    for (size_t step = t; step < t + block && a->ahead; step++) {
        for (size_t l = 0; l < a->ahead->n; l++) {
            const struct conv_ahead *list = &a->ahead->list[l];
            size_t n_blocks = step < list->n ? ceil_div(list->n - step, block) : 0;

            if (!n_blocks)
                continue;
            *end = t + n_blocks * block < *end ? t + n_blocks * block : *end;
            run[n++] = prefetch_run(list, step, block);
        }
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
