#include "sim/engine/bursts.h"

#include <assert.h>

#include "sim/engine/engine.h"

void sim_bursts_init(struct sim_bursts *b, const struct sim_level *first)
{
    assert(first->n_sets && first->line_bytes && !(first->line_bytes & (first->line_bytes - 1)));
    b->line_bytes = first->line_bytes;
    b->line_shift = sim_log2(first->line_bytes);
    b->n_sets = first->n_sets;
    b->set_mask = first->n_sets - 1;
    b->has_mask = !(first->n_sets & (first->n_sets - 1));
    for (uint32_t d = 1; d < SIM_N_RECIPROCALS; d++)
        b->reciprocal[d] = sim_reciprocal(d);
}
