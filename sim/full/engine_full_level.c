#include "sim/full/engine_full_level.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/full/pagemap.h"

static uint64_t physical(struct sim_full_level *l, uint64_t line)
{
    uint64_t addr = line << l->line_shift;
    uint64_t page = addr >> l->page_shift;

    if (page != l->page) {
        l->page = page;
        l->frame = sim_pagemap_translate(page << l->page_shift, l->page_shift, l->page_seed);
    }
    return (l->frame | (addr & (((uint64_t)1 << l->page_shift) - 1))) >> l->line_shift;
}

uint64_t sim_full_level_hashed_set(struct sim_full_level *l, uint64_t line)
{
    if (l->shape->is_physically_indexed)
        line = physical(l, line);
    if (l->shape->n_slices > 1)
        return sim_sliced_set(line, l->n_sets, l->shape->n_slices);
    return line % l->n_sets;
}

uint8_t sim_full_level_remove(struct sim_full_level *l, const struct sim_full_place *p)
{
    l->line[p->first + p->way] = SIM_FULL_NO_LINE;
    if (l->policy->invalidate)
        l->policy->invalidate(&l->memory, sim_full_level_state(l, p->set), p->way);
    return *sim_full_level_flags(l, p);
}

static uint32_t free_way(const struct sim_full_level *l, uint64_t first)
{
    bool from_end = sim_replacement_fills_last(&l->memory);

    for (uint32_t i = 0; i < l->n_ways; i++) {
        uint32_t way = from_end ? l->n_ways - 1 - i : i;

        if (l->line[first + way] == SIM_FULL_NO_LINE)
            return way;
    }
    return l->n_ways;
}

void sim_full_level_insert(struct sim_full_level *l, uint64_t line, struct sim_full_place *p)
{
    uint64_t *state = sim_full_level_state(l, p->set);

    assert(l->leaving == SIM_FULL_NO_LINE);
    if (l->policy->miss)
        l->policy->miss(&l->memory, state);
    p->way = free_way(l, p->first);
    if (p->way == l->n_ways) {
        p->way = l->policy->victim(&l->memory, state);
        l->leaving = l->line[p->first + p->way];
        l->leaving_flags = *sim_full_level_flags(l, p);
    }
    l->line[p->first + p->way] = line;
    *sim_full_level_flags(l, p) = 0;
    l->policy->fill(&l->memory, state, p->set, p->way);
}

uint32_t sim_full_level_next_dirty(const struct sim_full_level *l, uint64_t set)
{
    const uint64_t *used = l->policy == &sim_replacement_lru ? sim_full_level_state(l, set) : NULL;
    uint32_t next = l->n_ways;

    for (uint32_t way = 0; way < l->n_ways; way++) {
        uint64_t i = set * l->n_ways + way;

        if (l->line[i] != SIM_FULL_NO_LINE && l->flags[i] & SIM_FULL_DIRTY &&
            (next == l->n_ways || (used && used[way] < used[next])))
            next = way;
    }
    return next;
}

void sim_full_level_clear(struct sim_full_level *l)
{
    uint64_t n = l->n_sets * l->n_ways;

    for (uint64_t i = 0; i < n; i++)
        l->line[i] = SIM_FULL_NO_LINE;
    memset(l->flags, 0, (size_t)n);
    sim_replacement_level_init(&l->memory, l->shape->policy, l->n_ways, l->n_sets, l->shape->seed);
    for (uint64_t set = 0; set < l->n_sets; set++)
        l->policy->clear(&l->memory, sim_full_level_state(l, set));
    if (l->shadow)
        sim_shadow_clear(l->shadow);
    if (l->prefetch)
        memset(l->prefetch, 0, SIM_MAX_PREFETCHERS * sizeof *l->prefetch);
    l->leaving = l->page = SIM_FULL_NO_LINE;
}

/* Returns false if memory runs out. */
static bool init_prefetch(struct sim_full_level *l, uint64_t n_lines)
{
    bool is_late = false;

    for (size_t i = 0; i < SIM_MAX_PREFETCHERS && l->shape->prefetch[i].kind; i++) {
        l->asks[i] = sim_prefetch_resolve(&l->shape->prefetch[i]);
        l->watches_hits = l->watches_hits || l->asks[i].on == SIM_PREFETCH_ON_ALL;
        is_late = is_late || l->asks[i].late;
    }
    l->prefetch = calloc(SIM_MAX_PREFETCHERS, sizeof *l->prefetch);
    l->due = is_late ? calloc((size_t)n_lines, sizeof *l->due) : NULL;
    return l->prefetch && (l->due || !is_late);
}

int sim_full_level_init(struct sim_full_level *l, const struct sim_level *shape, unsigned page_shift,
                        uint64_t page_seed)
{
    uint64_t n = shape->n_sets * shape->n_ways;
    bool is_simple = !shape->is_physically_indexed && shape->n_slices <= 1;

    l->shape = shape;
    l->page_shift = page_shift;
    l->page_seed = page_seed;
    l->policy = sim_replacement_find(shape->policy);
    l->set_words = l->policy->set_words(shape->n_ways);
    l->n_sets = shape->n_sets;
    l->set_mask = is_simple && !(shape->n_sets & (shape->n_sets - 1)) ? shape->n_sets - 1 : 0;
    l->n_ways = shape->n_ways;
    l->line_bytes = shape->line_bytes;
    l->line_shift = sim_log2(shape->line_bytes);
    l->is_exclusive = shape->inclusion == SIM_EXCLUSIVE;
    l->is_inclusive = shape->inclusion == SIM_INCLUSIVE;
    l->is_classified = shape->is_classified;
    l->line = calloc((size_t)n, sizeof *l->line);
    l->flags = calloc((size_t)n, sizeof *l->flags);
    l->state = calloc((size_t)l->n_sets * l->set_words + 1, sizeof *l->state);
    if (!l->line || !l->flags || !l->state)
        return -ENOMEM;
    if (shape->prefetch[0].kind && !init_prefetch(l, n))
        return -ENOMEM;
    return l->is_classified ? sim_shadow_new(&l->shadow, n) : 0;
}

void sim_full_level_release(struct sim_full_level *l)
{
    free(l->line);
    free(l->flags);
    free(l->state);
    free(l->prefetch);
    free(l->due);
    sim_shadow_free(l->shadow);
}
