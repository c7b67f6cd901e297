#include "kernels/ukr/block_copy.h"

#include <assert.h>

struct panel {
    size_t column, width;
};

static struct sim_run resolve(const struct conv_copy_call *c, const struct panel *p, const struct conv_copy_block *b,
                              const struct conv_copy_run *r, size_t step)
{
    const bool loads = r->kind == SIM_LOAD;
    const int64_t element = sizeof(float), step_bytes = loads ? c->step_bytes : (int64_t)p->width * element;
    const int64_t column_bytes = loads ? c->column_bytes : element;
    const uint64_t panel =
        loads ? c->from + p->column * (uint64_t)c->column_bytes : c->to + p->column * c->n_steps * sizeof(float);

    return (struct sim_run){
        .addr = panel + (step + r->step) * (uint64_t)step_bytes + r->column * (uint64_t)column_bytes,
        .stride_bytes = r->by_steps * step_bytes + r->by_columns * column_bytes,
        .step_bytes = b->n_steps * step_bytes,
        .count = r->count,
        .access_bytes = r->n * (uint32_t)sizeof(float),
        .kind = (uint8_t)r->kind,
        .tag = (uint8_t)(loads ? c->from_tag : c->to_tag),
        .phase = CONV_PHASE_PACK,
    };
}

/* Emits n blocks, each behind the last, from a step on. */
static void emit_blocks(const struct conv_copy_call *c, const struct panel *p, const struct conv_copy_block *b,
                        size_t step, size_t n, struct sim_sink *sink)
{
    struct sim_run run[SIM_MAX_BURST_RUNS];

    assert(b->n_runs <= SIM_MAX_BURST_RUNS);
    for (size_t i = 0; i < b->n_runs; i++)
        run[i] = resolve(c, p, b, &b->run[i], step);
    sim_emit(sink, run, b->n_runs, n);
}

/* Returns the block that a panel of the width copies when `left` steps remain. */
static const struct conv_copy_block *next_block(const struct conv_copy *copy, size_t width, size_t left)
{
    const struct conv_copy_block *b = copy->block;

    while (b->width != width || b->n_steps > left) {
        b++;
        assert(b < copy->block + copy->n_blocks);
    }
    return b;
}

static struct panel panel_at(const struct conv_copy_call *c, size_t column)
{
    return (struct panel){ column, conv_tile_extent(c->n_columns - column, c->panel, c->panel, true) };
}

static void emit_panel(const struct conv_copy *copy, const struct conv_copy_call *c, const struct panel *p,
                       struct sim_sink *sink)
{
    for (size_t step = 0, n; step < c->n_steps; step += n) {
        const struct conv_copy_block *b = next_block(copy, p->width, c->n_steps - step);

        n = (c->n_steps - step) / b->n_steps * b->n_steps;
        emit_blocks(c, p, b, step, n / b->n_steps, sink);
    }
}

/* Emits a block of each panel. Returns the steps of a block. */
static size_t emit_across(const struct conv_copy *copy, const struct conv_copy_call *c, size_t step,
                          struct sim_sink *sink)
{
    const struct conv_copy_block *b = NULL;

    for (struct panel p = { 0 }; p.column < c->n_columns; p.column += p.width) {
        p = panel_at(c, p.column);
        b = next_block(copy, p.width, c->n_steps - step);
        emit_blocks(c, &p, b, step, 1, sink);
    }
    return b ? b->n_steps : c->n_steps;
}

void conv_copy_emit(const struct conv_copy *copy, const struct conv_copy_call *c, struct sim_sink *sink)
{
    if (copy->goes_across) {
        for (size_t step = 0; step < c->n_steps;)
            step += emit_across(copy, c, step, sink);
        return;
    }
    for (struct panel p = { 0 }; p.column < c->n_columns; p.column += p.width) {
        p = panel_at(c, p.column);
        emit_panel(copy, c, &p, sink);
    }
}
