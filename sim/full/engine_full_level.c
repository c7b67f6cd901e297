#define _GNU_SOURCE /* madvise */
#include "sim/full/engine_full_level.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/engine/engine.h"
#include "sim/full/pagemap.h"

void sim_full_find_frame(struct sim_full_index *x, uint64_t page)
{
    uint64_t first = sim_pagemap_translate(page << x->page_shift, x->page_shift, x->seed) >> x->line_shift;

    assert(x->is_physical);
    x->frame[page % SIM_FULL_FRAMES] = (struct sim_full_frame){
        .page = page,
        .first = first,
        .slice = sim_slice(first, x->slice_bits, x->fold),
    };
}

uint16_t sim_full_level_remove(struct sim_full_level *l, struct sim_full_place p)
{
    assert(sim_full_is_hit(p));
    *sim_full_level_line(p) = SIM_FULL_NO_LINE;
    l->n_free++;
    if (l->policy->invalidate)
        l->policy->invalidate(&l->policy_level, sim_full_level_memory(l, p), (uint32_t)p.way);
    return *sim_full_level_flags(l, p);
}

/* Returns the first invalid way, or the last, as the policy fills sets; -1: no way is invalid. */
static int32_t free_way(const struct sim_full_level *l, const uint64_t *row)
{
    int32_t way = -1;

    if (!l->n_free)
        return -1;
    if (!sim_replacement_fills_last(&l->policy_level))
        return sim_search(row, l->n_ways, SIM_FULL_NO_LINE);
    for (uint32_t i = 0; i < l->n_ways; i++)
        way = row[i] == SIM_FULL_NO_LINE ? (int32_t)i : way;
    return way;
}

int32_t sim_full_level_insert_any(struct sim_full_level *l, uint64_t line, uint64_t *row)
{
    struct sim_full_place p = { row, free_way(l, row) };
    uint64_t *memory = sim_full_level_memory(l, p);

    assert(l->leaving == SIM_FULL_NO_LINE);
    if (l->policy->miss)
        l->policy->miss(&l->policy_level, memory);
    if (sim_full_is_hit(p)) {
        l->n_free--;
    } else {
        p.way = (int32_t)l->policy->victim(&l->policy_level, memory);
        l->leaving = *sim_full_level_line(p);
        l->leaving_flags = *sim_full_level_flags(l, p);
    }
    *sim_full_level_line(p) = line;
    *sim_full_level_flags(l, p) = 0;
    l->policy->fill(&l->policy_level, memory, (uint64_t)(row - l->rows) / l->stride, (uint32_t)p.way);
    return p.way;
}

static bool is_dirty(const struct sim_full_level *l, struct sim_full_place p)
{
    return *sim_full_level_line(p) != SIM_FULL_NO_LINE && *sim_full_level_flags(l, p) & SIM_FULL_DIRTY;
}

bool sim_full_level_next_dirty(const struct sim_full_level *l, struct sim_full_place *p)
{
    bool is_lru = l->policy == &sim_replacement_lru;
    struct sim_full_place other = { .row = p->row };

    p->way = -1;
    for (; other.way < (int32_t)l->n_ways; other.way++) {
        if (!is_dirty(l, other) ||
            (sim_full_is_hit(*p) &&
             !(is_lru && sim_replacement_age_is_older(&l->policy_level, sim_full_level_memory(l, other),
                                                      (uint32_t)other.way, (uint32_t)p->way))))
            continue;
        *p = other;
    }
    return sim_full_is_hit(*p);
}

static void clear_row(struct sim_full_level *l, uint64_t *row)
{
    memset(row, 0, l->stride * sizeof *row);
    for (uint32_t way = 0; way < l->n_ways; way++)
        row[way] = SIM_FULL_NO_LINE;
    l->policy->clear(&l->policy_level, row + l->policy_at);
}

void sim_full_level_clear(struct sim_full_level *l)
{
    uint64_t n_sets = l->shape->n_sets;

    sim_replacement_level_init(&l->policy_level, l->shape->policy, l->n_ways, n_sets, l->shape->seed);
    for (uint64_t set = 0; set < n_sets; set++)
        clear_row(l, sim_full_level_row(l, set));
    memset(sim_full_level_row(l, n_sets), 0, SIM_SEARCH_GROUP * sizeof *l->rows);
    if (l->shadow)
        sim_shadow_clear(l->shadow);
    for (size_t i = 0; i < l->n_askers; i++)
        sim_prefetch_forget(&l->asker[i].state);
    l->n_free = n_sets * l->n_ways;
    for (size_t i = 0; i < SIM_FULL_FRAMES; i++)
        l->index.frame[i].page = SIM_FULL_NO_LINE;
    l->leaving = SIM_FULL_NO_LINE;
    l->has_kept = false;
}

void sim_full_level_keep(struct sim_full_level *l)
{
    const size_t bytes = (size_t)l->shape->n_sets * l->stride * sizeof *l->rows;

    l->has_kept = l->n_free < l->shape->n_sets * l->n_ways / 2;
    if (l->has_kept && !l->kept)
        l->kept = malloc(bytes);
    l->has_kept = l->has_kept && l->kept;
    if (l->has_kept)
        memcpy(l->kept, l->rows, bytes);
}

uint64_t *sim_full_level_bring_back(struct sim_full_level *l, uint64_t set)
{
    struct sim_full_place p = { sim_full_level_row(l, set), 0 };

    for (uint32_t way = 0; way < l->n_ways; way++)
        l->n_free -= p.row[way] == SIM_FULL_NO_LINE;
    memcpy(p.row, l->kept + set * l->stride, l->stride * sizeof *p.row);
    for (; p.way < (int32_t)l->n_ways; p.way++) {
        l->n_free += p.row[p.way] == SIM_FULL_NO_LINE;
        *sim_full_level_flags(l, p) = 0;
    }
    return p.row;
}

/* Tells whether a prefetcher sees requests of a kind. */
static bool sees(uint8_t on, unsigned sight)
{
    return on == SIM_PREFETCH_ON_ALL ||
           (on == SIM_PREFETCH_ON_MISS ? sight != SIM_FULL_SEEN_HIT : sight == SIM_FULL_SEEN_MISS);
}

static void init_asker(struct sim_full_level *l, struct sim_full_asker *a, const struct sim_prefetch *p)
{
    bool crosses;

    a->p = sim_prefetch_resolve(p);
    crosses = a->p.pages == SIM_PREFETCH_CROSSES;
    a->block_shift = l->block_shift;
    a->stay_shift = crosses ? 63 : l->block_shift;
    a->mask = crosses ? (((uint64_t)1 << SIM_ADDRESS_BITS) - 1) >> l->line_shift : UINT64_MAX;
    for (unsigned sight = 0; sight < SIM_FULL_SIGHTS; sight++) {
        struct sim_full_asker **seer = l->seer[sight];

        while (*seer)
            seer++;
        *seer = sees(a->p.on, sight) ? a : NULL;
    }
    l->is_late = l->is_late || a->p.late;
}

static void init_askers(struct sim_full_level *l)
{
    const struct sim_prefetch *list = l->shape->prefetch;

    l->block_shift = sim_prefetch_block_shift(l->line_shift);
    while (l->n_askers < SIM_MAX_PREFETCHERS && list[l->n_askers].kind)
        l->n_askers++;
    l->asker = l->n_askers ? calloc(l->n_askers, sizeof *l->asker) : NULL;
    for (size_t i = 0; l->asker && i < l->n_askers; i++)
        init_asker(l, &l->asker[i], &list[i]);
}

static void init_index(struct sim_full_index *x, const struct sim_level *shape, unsigned page_shift, uint64_t seed)
{
    x->slice_bits = shape->n_slices > 1 ? sim_log2(shape->n_slices) : 0;
    x->n_sets = shape->n_sets >> x->slice_bits;
    x->mask = x->n_sets - 1;
    x->has_power = !(x->n_sets & x->mask);
    x->is_physical = shape->is_physically_indexed;
    x->has_mask = x->has_power && !x->slice_bits && !x->is_physical;
    x->line_shift = sim_log2(shape->line_bytes);
    x->page_shift = page_shift;
    x->page_lines_shift = page_shift > x->line_shift ? page_shift - x->line_shift : 0;
    x->seed = seed;
    x->fold = sim_slice_fold(x->slice_bits, SIM_ADDRESS_BITS);
    x->fold_in_page = x->page_lines_shift ? sim_slice_fold(x->slice_bits, x->page_lines_shift) : 0;
}

enum { HOST_LINE = 64, LINE_WORDS = HOST_LINE / sizeof(uint64_t), HOST_LARGE_PAGE = 1 << 21 };

/*
 * Returns uninitialised words, or NULL. The host finds rows of large levels nowhere near: with rows in whole lines and in
 * large pages, where the host has these, a search waits for fewer lines and no page walk.
 */
static uint64_t *new_words(uint64_t n)
{
    const bool is_large = n >= HOST_LARGE_PAGE / sizeof(uint64_t);
    void *words = NULL;

    if (n > (SIZE_MAX - HOST_LARGE_PAGE) / sizeof(uint64_t) ||
        posix_memalign(&words, is_large ? HOST_LARGE_PAGE : HOST_LINE, (size_t)n * sizeof(uint64_t)))
        return NULL;
    if (is_large)
        madvise(words, (size_t)n * sizeof(uint64_t), MADV_HUGEPAGE); /* a refusal costs time alone */
    return words;
}

/* Lays out the parts of a row. Returns 0 or -ENOMEM. */
static int lay_out(struct sim_full_level *l)
{
    const uint64_t n_sets = l->shape->n_sets;

    l->due_at = l->n_ways;
    l->policy_at = l->is_late ? 2 * l->n_ways : l->n_ways;
    l->flags_at = l->policy_at + l->policy->set_words(l->n_ways);
    l->stride = l->flags_at + (l->n_ways * sizeof(uint16_t) + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    if (l->stride > LINE_WORDS / 2)
        l->stride = (l->stride + LINE_WORDS - 1) / LINE_WORDS * LINE_WORDS;
    if (n_sets < (SIZE_MAX - SIM_SEARCH_GROUP) / l->stride)
        l->rows = new_words(n_sets * l->stride + SIM_SEARCH_GROUP);
    return l->rows ? 0 : -ENOMEM;
}

int sim_full_level_init(struct sim_full_level *l, const struct sim_level *shape, unsigned page_shift,
                        uint64_t page_seed)
{
    assert(shape->n_ways && shape->n_sets && shape->line_bytes);
    l->shape = shape;
    l->policy = sim_replacement_find(shape->policy);
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
    init_index(&l->index, shape, page_shift, page_seed);
    l->is_small = l->index.has_mask && l->n_ways <= 2 * SIM_SEARCH_GROUP;
    l->way_bits = l->is_small ? ((uint32_t)1 << l->n_ways) - 1 : 0;
    init_askers(l);
    if (lay_out(l) || (!l->asker && l->n_askers))
        return -ENOMEM;
    return l->is_classified ? sim_shadow_new(&l->shadow, shape->n_sets * l->n_ways) : 0;
}

void sim_full_level_release(struct sim_full_level *l)
{
    free(l->rows);
    free(l->kept);
    free(l->asker);
    sim_shadow_free(l->shadow);
}
