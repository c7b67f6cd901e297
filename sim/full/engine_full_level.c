#include "sim/full/engine_full_level.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/full/pagemap.h"

void sim_full_find_frame(struct sim_full_frames *f, uint64_t page)
{
    size_t i = page % SIM_FULL_FRAMES;

    f->page[i] = page;
    f->frame[i] = sim_pagemap_translate(page << f->page_shift, f->page_shift, f->seed);
}

uint8_t sim_full_level_remove(struct sim_full_level *l, const struct sim_full_place *p)
{
    *sim_full_level_line(l, p) = SIM_FULL_NO_LINE;
    sim_full_level_set_print(l, p, 0);
    l->n_free++;
    if (l->policy->invalidate)
        l->policy->invalidate(&l->memory, p->words, p->way);
    return *sim_full_level_flags(l, p);
}

/* The first way that is invalid, or the last; n_ways if there is none. */
static uint32_t free_way(const struct sim_full_level *l, const uint64_t *words)
{
    bool from_end = sim_replacement_fills_last(&l->memory);

    for (size_t i = 0; i < l->n_prints; i++) {
        size_t word = from_end ? l->n_prints - 1 - i : i;
        uint64_t free = sim_full_zero_bytes(words[l->prints_at + word]);

        if (word + 1 == l->n_prints)
            free &= l->last_prints;
        if (free)
            return (uint32_t)(8 * word) + (uint32_t)(from_end ? 63 - __builtin_clzll(free) : __builtin_ctzll(free)) / 8;
    }
    return l->n_ways;
}

void sim_full_level_insert_any(struct sim_full_level *l, uint64_t line, struct sim_full_place *p)
{
    assert(l->leaving == SIM_FULL_NO_LINE);
    if (l->policy->miss)
        l->policy->miss(&l->memory, p->words);
    p->way = l->n_free ? free_way(l, p->words) : l->n_ways;
    if (p->way < l->n_ways) {
        l->n_free--;
    } else {
        p->way = l->policy->victim(&l->memory, p->words);
        l->leaving = *sim_full_level_line(l, p);
        l->leaving_flags = *sim_full_level_flags(l, p);
    }
    *sim_full_level_line(l, p) = line;
    *sim_full_level_flags(l, p) = 0;
    sim_full_level_set_print(l, p, sim_full_print(line));
    l->policy->fill(&l->memory, p->words, p->set, p->way);
}

static bool is_dirty(const struct sim_full_level *l, const struct sim_full_place *p)
{
    return *sim_full_level_line(l, p) != SIM_FULL_NO_LINE && *sim_full_level_flags(l, p) & SIM_FULL_DIRTY;
}

bool sim_full_level_next_dirty(const struct sim_full_level *l, uint64_t set, struct sim_full_place *p)
{
    bool is_lru = l->policy == &sim_replacement_lru;
    struct sim_full_place other = { .words = l->sets + set * l->stride, .set = set };

    p->is_hit = false;
    for (; other.way < l->n_ways; other.way++) {
        if (!is_dirty(l, &other) ||
            (p->is_hit && !(is_lru && sim_replacement_age_is_older(&l->memory, p->words, other.way, p->way))))
            continue;
        *p = other;
        p->is_hit = true;
    }
    return p->is_hit;
}

static void clear_set(struct sim_full_level *l, uint64_t *words)
{
    memset(words, 0, l->stride * sizeof *words);
    for (uint32_t way = 0; way < l->n_ways; way++)
        words[l->lines_at + way] = SIM_FULL_NO_LINE;
    l->policy->clear(&l->memory, words);
}

void sim_full_level_clear(struct sim_full_level *l)
{
    sim_replacement_level_init(&l->memory, l->shape->policy, l->n_ways, l->n_sets, l->shape->seed);
    for (uint64_t set = 0; set < l->n_sets; set++)
        clear_set(l, l->sets + set * l->stride);
    if (l->shadow)
        sim_shadow_clear(l->shadow);
    if (l->prefetch)
        memset(l->prefetch, 0, l->n_asks * sizeof *l->prefetch);
    l->n_free = l->n_sets * l->n_ways;
    for (size_t i = 0; i < SIM_FULL_FRAMES; i++)
        l->frames.page[i] = SIM_FULL_NO_LINE;
    l->leaving = SIM_FULL_NO_LINE;
}

static void resolve_prefetchers(struct sim_full_level *l)
{
    for (size_t i = 0; i < SIM_MAX_PREFETCHERS && l->shape->prefetch[i].kind; i++) {
        l->n_asks = i + 1;
        l->asks[i] = sim_prefetch_resolve(&l->shape->prefetch[i]);
        l->watches_hits = l->watches_hits || l->asks[i].on == SIM_PREFETCH_ON_ALL;
        l->is_late = l->is_late || l->asks[i].late;
    }
}

/* Where a line's set comes from. */
static void init_index(struct sim_full_level *l, unsigned page_shift, uint64_t page_seed)
{
    uint64_t part;

    l->slice_bits = l->shape->n_slices > 1 ? sim_log2(l->shape->n_slices) : 0;
    part = l->n_sets >> l->slice_bits;
    l->set_mask = part - 1;
    l->slice_fold = sim_slice_fold(l->slice_bits);
    l->is_physical = l->shape->is_physically_indexed;
    l->has_slices = !(part & (part - 1));
    l->has_mask = l->has_slices && !l->slice_bits && !l->is_physical;
    l->frames.page_shift = page_shift;
    l->frames.seed = page_seed;
}

/* What is where in a set. */
static void lay_out(struct sim_full_level *l)
{
    unsigned n_last = l->n_ways % 8 ? l->n_ways % 8 : 8;

    l->n_prints = (l->n_ways + 7) / 8;
    l->last_prints = 0x8080808080808080u >> 8 * (8 - n_last);
    l->prints_at = l->policy->set_words(l->n_ways);
    l->flags_at = l->prints_at + l->n_prints;
    l->lines_at = l->flags_at + l->n_prints;
    l->due_at = l->lines_at + l->n_ways;
    l->stride = l->due_at + (l->is_late ? l->n_ways : 0);
}

int sim_full_level_init(struct sim_full_level *l, const struct sim_level *shape, unsigned page_shift,
                        uint64_t page_seed)
{
    l->shape = shape;
    l->policy = sim_replacement_find(shape->policy);
    l->n_sets = shape->n_sets;
    l->n_ways = shape->n_ways;
    l->line_bytes = shape->line_bytes;
    l->line_shift = sim_log2(shape->line_bytes);
    l->has_order = l->policy == &sim_replacement_lru && l->n_ways <= SIM_REPLACEMENT_MAX_ORDERED;
    l->has_tree = l->policy == &sim_replacement_tree_plru && l->n_ways <= SIM_REPLACEMENT_MAX_TREE;
    if (l->has_tree)
        sim_replacement_tree_init(&l->tree, l->n_ways);
    l->is_exclusive = shape->inclusion == SIM_EXCLUSIVE;
    l->is_inclusive = shape->inclusion == SIM_INCLUSIVE;
    l->is_classified = shape->is_classified;
    init_index(l, page_shift, page_seed);
    resolve_prefetchers(l);
    lay_out(l);
    l->sets = calloc((size_t)l->n_sets, l->stride * sizeof *l->sets);
    l->prefetch = l->n_asks ? calloc(l->n_asks, sizeof *l->prefetch) : NULL;
    if (!l->sets || (!l->prefetch && l->n_asks))
        return -ENOMEM;
    return l->is_classified ? sim_shadow_new(&l->shadow, l->n_sets * l->n_ways) : 0;
}

void sim_full_level_release(struct sim_full_level *l)
{
    free(l->sets);
    free(l->prefetch);
    sim_shadow_free(l->shadow);
}
