/* The micro-kernels on blocks and their accesses, without vector code, so that every CPU can replay them. */
#include "kernels/ukr/small_tile.h"

struct emission {
    struct sim_sink *sink;
    const struct conv_small *s;
};

static struct sim_run run_of(enum sim_kind kind, enum conv_tensor tag, uint64_t addr)
{
    return (struct sim_run){ .addr = addr,
                             .count = 1,
                             .access_bytes = sizeof(float),
                             .kind = (uint8_t)kind,
                             .tag = (uint8_t)tag,
                             .phase = CONV_PHASE_UKR };
}

/* Returns the vectors of a row, one after the other; rows are ld elements apart. */
static struct sim_run row_of(const struct emission *e, size_t index, enum sim_kind kind, enum conv_tensor tag,
                             uint64_t addr, size_t ld)
{
    struct sim_run run = run_of(kind, tag, addr);

    run.access_bytes = (uint32_t)(e->s->lanes * sizeof(float));
    run.count = (uint32_t)e->s->tile[index].n_vectors;
    run.stride_bytes = run.access_bytes;
    run.step_bytes = (int64_t)(ld * sizeof(float));
    return run;
}

static void emit_tile(void *ctx, const struct conv_small_args *t, size_t index)
{
    const struct emission *e = ctx;
    struct sim_run c = row_of(e, index, SIM_LOAD, CONV_OUTPUT, t->c, t->ldc);
    struct sim_run step[2] = { row_of(e, index, SIM_LOAD, CONV_FILTER, t->a, t->lda),
                               run_of(SIM_LOAD, CONV_INPUT, t->b) };

    step[1].count = (uint32_t)t->n;
    step[1].stride_bytes = (int64_t)(t->ldb * sizeof(float));
    step[1].step_bytes = sizeof(float);
    sim_emit(e->sink, &c, 1, t->n);
    sim_emit(e->sink, step, 2, t->k);
    c.kind = SIM_STORE;
    sim_emit(e->sink, &c, 1, t->n);
}

static void emit(const struct conv_small *s, const struct conv_small_args *a, struct sim_sink *sink)
{
    struct emission e = { sink, s };

    conv_small_tiles(s, a, emit_tile, &e);
}

#define TILE(n_vectors, n_rows) { n_vectors, n_rows },
#define COUNT_TILE(n_vectors, n_rows) +1
#define SMALL(isa_, lanes_)                                                                                            \
    { .name = "f32_small__" #isa_,                                                                                     \
      .isa = CONV_ISA_##isa_,                                                                                          \
      .lanes = lanes_,                                                                                                 \
      .fn = CONV_FN_##isa_(conv_f32_small__##isa_),                                                                    \
      .emit = emit,                                                                                                    \
      .n_tiles = 0 CONV_SMALL_TILES__##isa_(COUNT_TILE),                                                               \
      .tile = { CONV_SMALL_TILES__##isa_(TILE) } },

const struct conv_small conv_small_table[CONV_SMALL_N] = { CONV_SMALLS(SMALL) };
