#include "sim/full/engine_full_tlb.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Clears all entries. Words beyond the ways are never the oldest. */
void sim_full_tlb_clear(struct sim_full_tlb *t)
{
    assert(t->page && t->used);
    for (uint64_t i = 0; i < t->n_sets * t->n_words; i++) {
        t->page[i] = SIM_FULL_NO_LINE;
        t->used[i] = i % t->n_words < t->n_ways ? 0 : INT64_MAX;
    }
    memset(t->hint, 0, sizeof t->hint);
    t->clock = 0;
}

int sim_full_tlb_init(struct sim_full_tlb *t, const struct sim_tlb *shape)
{
    assert(shape->n_ways && shape->n_entries % shape->n_ways == 0);
    t->n_ways = shape->n_ways;
    t->n_words = (shape->n_ways + SIM_SEARCH_GROUP - 1) / SIM_SEARCH_GROUP * SIM_SEARCH_GROUP;
    t->n_sets = shape->n_entries / shape->n_ways;
    t->page = calloc(t->n_sets * t->n_words, sizeof *t->page);
    t->used = calloc(t->n_sets * t->n_words, sizeof *t->used);
    return t->page && t->used ? 0 : -ENOMEM;
}

void sim_full_tlb_release(struct sim_full_tlb *t)
{
    free(t->page);
    free(t->used);
}
