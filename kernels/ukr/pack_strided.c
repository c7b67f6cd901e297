#include "kernels/ukr/pack_strided.h"

#include "kernels/ukr/registry.h"

enum { LANES = 8 };

static bool can_pack(const struct conv_problem *p)
{
    return p->stride_w > 1 && p->dilation_w == 1;
}

struct emission {
    struct sim_sink *sink;
    enum conv_tensor tag; /* tag of the input */
};

static struct sim_run run_of(enum sim_kind kind, enum conv_tensor tag, uint64_t addr, size_t bytes)
{
    return (struct sim_run){ .addr = addr,
                             .count = 1,
                             .access_bytes = (uint32_t)bytes,
                             .kind = (uint8_t)kind,
                             .tag = (uint8_t)tag,
                             .phase = CONV_PHASE_PACK };
}

/* Returns the window of load j of a vector of windows. */
static size_t window_at(size_t n_taps, size_t j)
{
    if (n_taps == 1)
        return j;
    return n_taps == 2 ? j % 2 + j / 2 % 2 * 4 + j / 4 * 2 : j / 2 + j % 2 * 4;
}

/* Returns the loads of a vector of windows, of the first channel. */
static size_t half_loads(const struct emission *e, const struct strided_taps *taps, size_t first, struct sim_run *run)
{
    size_t n = 0;

    for (size_t j = 0; j < LANES; j += 1 + taps->is_paired) {
        const size_t window = first + window_at(taps->n_taps, j);
        const uint32_t live = taps->is_whole ? (1u << taps->n_taps) - 1 : taps->live[window];

        if (live)
            run[n++] =
                run_of(SIM_LOAD, e->tag, taps->in[window] + taps->from + (size_t)__builtin_ctz(live) * sizeof(float),
                       (size_t)(__builtin_popcount(live) << taps->is_paired) * sizeof(float));
    }
    return n;
}

static struct sim_run stores_of(const struct strided_taps *taps, size_t from, size_t count, size_t apart)
{
    struct sim_run run =
        run_of(SIM_STORE, CONV_PACKED_INPUT, taps->panel + from * sizeof(float), LANES * sizeof(float));

    run.count = (uint32_t)count;
    run.stride_bytes = (int64_t)(apart * sizeof(float));
    return run;
}

static size_t taps_runs(const struct emission *e, const struct strided_taps *taps, struct sim_run *run)
{
    size_t n = 0;

    for (size_t first = 0; first < STRIDED_WIN; first += LANES) {
        n += half_loads(e, taps, first, run + n);
        run[n++] = stores_of(taps, first, taps->n_taps, STRIDED_WIN);
    }
    return n;
}

/* The row's vectors, of which elements on padding are left out. */
static size_t row_runs(const struct emission *e, const struct strided_taps *taps, struct sim_run *run)
{
    size_t n = 0;

    for (ptrdiff_t at = 0; at <= taps->last; at += LANES) {
        const ptrdiff_t first = at > taps->first ? at : taps->first;
        const ptrdiff_t last = at + LANES - 1 < taps->last ? at + LANES - 1 : taps->last;

        if (first <= last)
            run[n++] = run_of(SIM_LOAD, e->tag, taps->in[0] + taps->from + (uint64_t)first * sizeof(float),
                              (size_t)(last - first + 1) * sizeof(float));
    }
    run[n++] = stores_of(taps, 0, taps->n_taps * STRIDED_WIN / LANES, LANES);
    return n;
}

static void emit_taps(void *ctx, const struct strided_taps *taps)
{
    const struct emission *e = ctx;
    struct sim_run run[STRIDED_WIN + 2];
    const size_t n = (taps->is_row ? row_runs : taps_runs)(e, taps, run);

    for (size_t i = 0; i < n; i++)
        run[i].step_bytes = (int64_t)(run[i].kind == SIM_STORE ? taps->panel_step : taps->in_step);
    sim_emit(e->sink, run, n, taps->n_steps);
}

static void emit(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a, struct sim_sink *sink)
{
    struct emission e = { sink, a->tag };

    (void)self;
    strided(a, emit_taps, &e);
}

const struct conv_pack_windows conv_pack_windows__strided = {
    .name = "pack_strided__avx2",
    .isa = CONV_ISA_strided,
    .granule = STRIDED_WIN,
    .max_width = STRIDED_WIN,
    .fn = CONV_FN_strided(conv_pack_strided_fn__avx2),
    .emit = emit,
    .can_pack = can_pack,
    .transposes = true,
};
