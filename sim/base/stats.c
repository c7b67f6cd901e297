#include "sim/base/stats.h"

#include <assert.h>

/* A cell consists of counts only, so cells add up as arrays. */
_Static_assert(sizeof(struct sim_cell) % sizeof(uint64_t) == 0, "cells must be made of 64-bit counts");

void sim_cell_add(struct sim_cell *dst, const struct sim_cell *src)
{
    uint64_t *d = (uint64_t *)(void *)dst;
    const uint64_t *s = (const uint64_t *)(const void *)src;

    for (size_t i = 0; i < sizeof *dst / sizeof *d; i++)
        d[i] += s[i];
}

uint64_t sim_cell_demand_fills(const struct sim_cell *cell)
{
    const struct sim_level_counts *l = &cell->level[0];
    uint64_t fills = l->lines_in - l->prefetch_fills + l->late_prefetches;

    for (size_t i = 0; i < SIM_MAX_TLBS; i++)
        fills -= cell->tlb[i].walk_fills;
    return fills;
}

struct sim_cell sim_stats_tag(const struct sim_stats *s, unsigned tag)
{
    struct sim_cell sum = { 0 };

    assert(s && tag < SIM_MAX_TAGS);
    for (unsigned phase = 0; phase < SIM_MAX_PHASES; phase++)
        sim_cell_add(&sum, sim_stats_cell(s, tag, phase));
    return sum;
}

struct sim_cell sim_stats_phase(const struct sim_stats *s, unsigned phase)
{
    struct sim_cell sum = { 0 };

    assert(s && phase < SIM_MAX_PHASES);
    for (unsigned tag = 0; tag < SIM_USUAL_TAGS; tag++)
        sim_cell_add(&sum, &s->cell[tag][phase]);
    return sum;
}

struct sim_cell sim_stats_total_of(const struct sim_stats *s, unsigned n_tags)
{
    struct sim_cell sum = { 0 };

    assert(s && n_tags <= SIM_MAX_TAGS);
    for (unsigned tag = 0; tag < n_tags; tag++) {
        struct sim_cell one = sim_stats_tag(s, tag);

        sim_cell_add(&sum, &one);
    }
    return sum;
}

struct sim_cell sim_stats_total(const struct sim_stats *s)
{
    return sim_stats_total_of(s, SIM_USUAL_TAGS);
}

struct sim_prefetch_counts sim_stats_prefetcher(const struct sim_stats *s, size_t level, size_t prefetcher)
{
    struct sim_prefetch_counts c = s->prefetcher[level][prefetcher];

    assert(level < SIM_MAX_LEVELS && prefetcher < SIM_N_PREFETCHERS);
    if (!level && prefetcher == SIM_SOFTWARE_PREFETCHER)
        c.asked = sim_stats_total(s).software_prefetches;
    return c;
}

void sim_cell_take_known(struct sim_cell *to, const struct sim_cell *exact, const struct sim_cell *counted)
{
    assert(to && exact && counted);
    to->loads = exact->loads;
    to->stores = exact->stores;
    to->load_bytes = exact->load_bytes;
    to->store_bytes = exact->store_bytes;
    to->nt_stores = exact->nt_stores;
    to->software_prefetches = exact->software_prefetches;
    to->memory_read_lines = counted->memory_read_lines;
    to->memory_written_lines = counted->memory_written_lines;
}
