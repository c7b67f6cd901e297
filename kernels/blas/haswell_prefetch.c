#include "kernels/blas/haswell_prefetch.h"

#include <assert.h>
#include <string.h>

#include "kernels/sizes.h"

enum { EIGHT = 8, WINDOW_BYTES = 32, FILTER_BYTES = 16, N_ROWS = 6 };
enum { WINDOWS_AHEAD = 512, FILTERS_AHEAD = 128 };

/* A loop for pairs leaves at least six steps to do singly, and does not begin below sixteen. */
size_t conv_haswell_eights(enum haswell_kind kind, size_t k)
{
    if (kind != HASWELL_PAIR)
        return k / EIGHT;
    return k >= 2 * EIGHT ? (k - 6) / EIGHT : 0;
}

static struct sim_run ask(enum conv_tensor tag, uint64_t addr, int64_t step_bytes)
{
    return (struct sim_run){
        .addr = addr,
        .step_bytes = step_bytes,
        .count = 1,
        .access_bytes = 1,
        .kind = SIM_PREFETCH,
        .tag = (uint8_t)tag,
        .phase = CONV_PHASE_UKR,
    };
}

/* What is asked for after a step of eight; returns how many runs. */
static size_t ask_after(const struct haswell_loop *l, size_t step, struct sim_run *run)
{
    size_t n = 0;

    if (step % 2 == 0)
        run[n++] = ask(CONV_PACKED_INPUT, l->windows + step * WINDOW_BYTES + WINDOWS_AHEAD, EIGHT * WINDOW_BYTES);
    if (l->kind == HASWELL_PAIR && step % 4 == 1)
        run[n++] =
            ask(CONV_PACKED_FILTER, l->filters + (step + 1) * FILTER_BYTES + FILTERS_AHEAD, EIGHT * FILTER_BYTES);
    if (l->kind == HASWELL_PAIR && step == 5)
        run[n++] = ask(CONV_PACKED_FILTER, l->next, HASWELL_NEXT_STEP);
    return n;
}

static void emit_eights(const struct haswell_loop *l, size_t n_eights, struct sim_sink *sink)
{
    struct sim_run run[EIGHT * HASWELL_MAX_LOADS + EIGHT];
    size_t n = 0;

    _Static_assert(EIGHT * HASWELL_MAX_LOADS + EIGHT <= SIM_MAX_BURST_RUNS, "a burst has room for eight steps");
    for (size_t step = 0; step < EIGHT; step++) {
        for (size_t i = 0; i < l->n_loads; i++, n++) {
            run[n] = l->load[i];
            run[n].addr += step * (uint64_t)run[n].step_bytes;
            run[n].step_bytes *= EIGHT;
        }
        n += ask_after(l, step, run + n);
    }
    sim_emit(sink, run, n, n_eights);
}

/*
 * n requests for the rows of outputs, `per_row` of each, stride_bytes apart; after the last row it is the first's turn.
 * The kernel makes them one by one between the others.
 */
static void emit_outputs(const struct haswell_loop *l, size_t n, uint32_t per_row, int64_t stride_bytes,
                         struct sim_sink *sink)
{
    struct sim_run run = ask(CONV_OUTPUT, l->out, (int64_t)l->row_bytes);

    run.stride_bytes = stride_bytes;
    for (size_t round = min_size(n, N_ROWS * per_row); n; n -= round, round = min_size(n, N_ROWS * per_row)) {
        struct sim_run rest = run;

        run.count = per_row;
        sim_emit(sink, &run, 1, round / per_row);
        rest.addr += round / per_row * l->row_bytes;
        rest.count = (uint32_t)(round % per_row);
        if (rest.count)
            sim_emit(sink, &rest, 1, 1);
    }
}

static void emit_single_steps(const struct haswell_loop *l, size_t first, struct sim_sink *sink)
{
    struct sim_run run[HASWELL_MAX_LOADS + 1];

    memcpy(run, l->load, l->n_loads * sizeof *run);
    for (size_t i = 0; i < l->n_loads; i++)
        run[i].addr += first * (uint64_t)run[i].step_bytes;
    run[l->n_loads] = ask(CONV_PACKED_INPUT, l->windows + first * WINDOW_BYTES + WINDOWS_AHEAD, WINDOW_BYTES);
    sim_emit(sink, run, l->n_loads + l->has_single_steps, l->k - first);
}

/* The first two lines of the column's filters, with which the next pair begins. */
static void emit_again(const struct haswell_loop *l, struct sim_sink *sink)
{
    struct sim_run run = ask(CONV_PACKED_FILTER, l->first_filters, 0);

    run.count = 2;
    run.stride_bytes = 64;
    sim_emit(sink, &run, 1, 1);
}

void conv_haswell_emit(const struct haswell_loop *l, struct sim_sink *sink)
{
    const size_t n = conv_haswell_eights(l->kind, l->k), left = l->k - n * EIGHT;

    assert(l->n_loads <= HASWELL_MAX_LOADS);
    emit_eights(l, n, sink);
    if (l->kind == HASWELL_FIRST)
        emit_outputs(l, n, 2, 0x1f, sink);
    if (l->kind == HASWELL_PAIR) {
        emit_outputs(l, n, 4, 0x15, sink);
        emit_outputs(l, 2 * left, 2, 0x3f, sink);
    }
    emit_single_steps(l, n * EIGHT, sink);
    if (l->kind == HASWELL_PAIR && l->asks_again)
        emit_again(l, sink);
}
