#include "kernels/blas/core_loads.h"

#include <assert.h>

#include "kernels/shape/sizes.h"

struct sim_run conv_core_load(enum conv_tensor tag, uint64_t addr, uint32_t bytes, size_t count, size_t step_bytes)
{
    return (struct sim_run){
        .addr = addr,
        .stride_bytes = bytes,
        .step_bytes = (int64_t)step_bytes,
        .count = (uint32_t)count,
        .access_bytes = bytes,
        .kind = SIM_LOAD,
        .tag = (uint8_t)tag,
        .phase = CONV_PHASE_UKR,
    };
}

size_t conv_core_filter_loads(const struct conv_ukr *u, const struct conv_ukr_args *a, size_t f0, size_t n_f,
                              uint32_t bytes, struct sim_run *run)
{
    size_t width = min_size(a->n_f, u->f_panel), n = 0;

    assert(f0 + n_f <= a->n_f);
    for (size_t f = f0, n_here; f < f0 + n_f; f += n_here, n++) {
        uint64_t panel = a->filter + f / width * width * a->k * sizeof(float);

        n_here = min_size(width - f % width, f0 + n_f - f);
        run[n] = conv_core_load(CONV_PACKED_FILTER, panel + f % width * sizeof(float), bytes,
                                n_here * sizeof(float) / bytes, width * sizeof(float));
    }
    return n;
}

size_t conv_core_loads(const struct conv_ukr *u, const struct conv_ukr_args *a, struct core_step step,
                       struct sim_run *run)
{
    const size_t all_bytes = min_size(a->n_win, u->n_win) * sizeof(float);

    struct sim_run *windows;
    size_t n;

    assert(a->n_f <= (CORE_MAX_LOADS - 1) * u->f_panel);
    n = conv_core_filter_loads(u, a, 0, a->n_f, step.f_bytes, step.filters_first ? run : run + 1);
    windows = step.filters_first ? run + n : run;
    *windows = conv_core_load(CONV_PACKED_INPUT, a->in, step.win_bytes, step.win_times, all_bytes);
    if (step.win_bytes == all_bytes)
        windows->stride_bytes = 0;
    return n + 1;
}

enum { FOUR = 4 };

/* of_four: multiply-adds of four filters by 1, 2, 4, ... windows. */
static size_t fmas_of(const uint8_t *of_four, size_t n_widths, size_t n_win, size_t n_f)
{
    const size_t fours = n_f / FOUR, pairs = n_f % FOUR / 2, lone = n_f % 2;
    size_t sum = 0;

    for (size_t i = n_widths, width; i-- > 0; n_win %= width) {
        width = (size_t)1 << i;
        sum += n_win / width * (fours * of_four[i] + pairs * (i ? 2 : 1) + lone);
    }
    return sum;
}

size_t conv_core_avx512_fmas(size_t n_win, size_t n_f)
{
    return fmas_of((const uint8_t[]){ 1, 2, 1, 2, 4 }, 5, n_win, n_f);
}

size_t conv_core_avx2_fmas(size_t n_win, size_t n_f)
{
    return fmas_of((const uint8_t[]){ 1, 2, 4, 4 }, 4, n_win, n_f);
}
