#include "kernels/blas/core_loop.h"

#include <assert.h>

#include "kernels/shape/sizes.h"

/* ---- bodies ---- */

/* The place of prefetched outputs, for the bodies from a body on. */
struct position {
    uint64_t addr;
    int64_t step_bytes; /* between two bodies, */
    size_t n_bodies;    /* for n_bodies bodies */
};

static struct position output_place(const struct core_loop *l, const struct core_body *b, size_t body)
{
    const size_t at = b->again && body >= b->again ? body - b->again : body;
    const uint64_t turn_bytes = b->rows * l->row_bytes;
    struct position p = { .n_bodies = SIZE_MAX };

    if (!b->per_row)
        return p;
    p.addr = l->out + at / b->per_row * turn_bytes + at % b->per_row * (uint64_t)b->stride_bytes;
    p.step_bytes = b->per_row == 1 ? (int64_t)turn_bytes : b->stride_bytes;
    if (b->per_row > 1)
        p.n_bodies = b->per_row - at % b->per_row;
    else if (body < b->again)
        p.n_bodies = b->again - body;
    return p;
}

static struct sim_run resolve(const struct core_loop *l, const struct core_body *b, const struct core_ask *ask,
                              size_t first_step, size_t body, const struct position *outputs)
{
    const size_t step = first_step + body * b->n_steps + ask->step;
    const struct sim_run *windows = &l->load[0], *filters = &l->load[1];
    struct sim_run run = { .count = 1, .access_bytes = 1, .kind = SIM_PREFETCH, .phase = CONV_PHASE_UKR };

    if (ask->of == ASKS_WINDOWS) {
        run.addr = l->windows + step * (uint64_t)windows->step_bytes;
        run.step_bytes = (int64_t)b->n_steps * windows->step_bytes;
        run.tag = CONV_PACKED_INPUT;
    } else if (ask->of == ASKS_FILTERS) {
        run.addr = l->filters + step * (uint64_t)filters->step_bytes;
        run.step_bytes = (int64_t)b->n_steps * filters->step_bytes;
        run.tag = CONV_PACKED_FILTER;
    } else if (ask->of == ASKS_NEXT) {
        run.addr = l->next + body * (uint64_t)l->next_step;
        run.step_bytes = l->next_step;
        run.tag = CONV_PACKED_FILTER;
    } else {
        run.addr = outputs->addr + ask->row * l->row_bytes;
        run.step_bytes = outputs->step_bytes;
        run.tag = CONV_OUTPUT;
    }
    run.addr += (uint64_t)(int64_t)ask->offset;
    return run;
}

/* Makes the runs of a body: its steps' runs, with the prefetches between them. Returns the number of runs. */
static size_t body_runs(const struct core_loop *l, const struct core_body *b, size_t first_step, size_t body,
                        const struct position *outputs, struct sim_run *run)
{
    size_t n = 0, asked = 0;

    for (size_t step = 0; step < b->n_steps; step++) {
        for (size_t i = 0; i <= l->n_loads; i++) {
            for (; asked < b->n_asks && b->ask[asked].step == step && (b->ask[asked].after <= i || i == l->n_loads);
                 asked++)
                run[n++] = resolve(l, b, &b->ask[asked], first_step, body, outputs);
            if (i == l->n_loads)
                break;
            run[n] = l->load[i];
            run[n].addr += (first_step + body * b->n_steps + step) * (uint64_t)run[n].step_bytes;
            run[n++].step_bytes *= (int64_t)b->n_steps;
        }
    }
    return n;
}

/* Emits a burst per stretch of bodies in which the place in the outputs moves evenly. */
void conv_core_loop_emit(const struct core_loop *l, const struct core_body *b, size_t first_step, size_t n_bodies,
                         struct sim_sink *sink)
{
    struct sim_run run[SIM_MAX_BURST_RUNS];

    assert(b->n_steps * l->n_loads + b->n_asks <= SIM_MAX_BURST_RUNS);
    for (size_t body = 0, n; body < n_bodies; body += n) {
        const struct position outputs = output_place(l, b, body);
        const size_t n_runs = body_runs(l, b, first_step, body, &outputs, run);

        n = min_size(outputs.n_bodies, n_bodies - body);
        sim_emit(sink, run, n_runs, n);
    }
}

/* ---- updates ---- */

/* Emits n times: `rows` rows of some pieces loaded, if the tile accumulates, and stored. */
static void emit_update(const struct conv_ukr_args *a, const struct core_update *u, uint64_t addr, size_t rows,
                        size_t n, struct sim_sink *sink)
{
    const int64_t row_bytes = (int64_t)(a->ld_out * sizeof(float));
    struct sim_run run[2] = { { .addr = addr,
                                .stride_bytes = rows > 1 ? row_bytes : (int64_t)u->piece_bytes,
                                .step_bytes = (int64_t)rows * row_bytes,
                                .count = (uint32_t)(rows > 1 ? rows : u->pieces),
                                .access_bytes = u->piece_bytes,
                                .kind = SIM_LOAD,
                                .tag = CONV_OUTPUT,
                                .phase = CONV_PHASE_UKR } };

    run[1] = run[0];
    run[1].kind = SIM_STORE;
    if (n)
        sim_emit(sink, a->accumulate ? run : run + 1, a->accumulate ? 2 : 1, n);
}

static void emit_group(const struct conv_ukr_args *a, const struct core_update *u, uint64_t addr, size_t n_rows,
                       struct sim_sink *sink)
{
    const size_t whole = n_rows / u->rows * u->rows;

    emit_update(a, u, addr, u->rows, whole / u->rows, sink);
    emit_update(a, u, addr + whole * a->ld_out * sizeof(float), 1, n_rows - whole, sink);
}

void conv_core_update_emit(const struct conv_ukr_args *a, const struct core_update *u, struct sim_sink *sink)
{
    const size_t all_bytes = a->n_win * sizeof(float), at_once = u->pieces * u->piece_bytes;
    const size_t group = at_once < all_bytes ? u->group_rows : a->n_f;

    assert(u->rows == 1 || u->pieces == 1);
    assert(all_bytes % at_once == 0);
    for (size_t f = 0; f < a->n_f; f += group) {
        for (size_t first = 0; first < all_bytes; first += at_once)
            emit_group(a, u, a->out + f * a->ld_out * sizeof(float) + first, min_size(group, a->n_f - f), sink);
    }
}
