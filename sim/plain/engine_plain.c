/* Objects of the plain engine: create, clear, free, and the choice of the variant of the hot part. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cpu.h"
#include "sim/engine/engine.h"
#include "sim/plain/engine_plain.h"

static void clear_compact(struct sim_plain_level *c)
{
    for (uint64_t i = 0; i < c->n_sets * c->compact.set_words; i++)
        c->compact.words[i] = SIM_COMPACT_EMPTY;
}

static void *sets_new(uint64_t n_sets, size_t set_bytes)
{
    const size_t group = SIM_PLAIN_GROUP_BYTES;
    uint64_t bytes = (n_sets * set_bytes + group - 1) / group * group;

    return bytes > SIZE_MAX ? NULL : aligned_alloc(group, (size_t)bytes);
}

static struct sim_plain_sets compact_sets(const struct sim_level *l, const uint32_t *region_set)
{
    const uint32_t group = SIM_PLAIN_GROUP_BYTES / sizeof(uint32_t);
    uint32_t set_words = l->n_ways <= group / 2 ? group / 2 : (l->n_ways + group - 1) / group * group;

    return (struct sim_plain_sets){
        .mask = (uint32_t)(l->n_sets - 1) << SIM_COMPACT_LINE_SHIFT,
        .last_way = (uint32_t)1 << ((l->n_ways - 1) & 31),
        .n_ways = l->n_ways,
        .n_sets = (uint32_t)l->n_sets,
        .set_words = set_words,
        .size = set_words < group    ? SIM_PLAIN_SMALL
                : set_words == group ? SIM_PLAIN_GROUP
                                     : SIM_PLAIN_MANY,
        .has_mask = !(l->n_sets & (l->n_sets - 1)) && l->n_sets <= (uint64_t)1 << SIM_REGION_SHIFT,
        .region_set = region_set,
        .words = sets_new(l->n_sets, set_words * sizeof(uint32_t)),
    };
}

static struct sim_plain_level level_of(const struct sim_level *l)
{
    const size_t group = SIM_PLAIN_GROUP_BYTES / sizeof(uint64_t);

    return (struct sim_plain_level){
        .n_sets = l->n_sets,
        .set_mask = l->n_sets - 1,
        .has_mask = !(l->n_sets & (l->n_sets - 1)),
        .set_words = (l->n_ways + group - 1) / group * group,
        .n_ways = l->n_ways,
        .line_bytes = l->line_bytes,
        .line_shift = sim_log2(l->line_bytes),
    };
}

/* Allocates wide words from the beginning, so that the change to wide words cannot fail. Untouched until then. */
static int fill_level(struct sim_plain_level *c, const struct sim_level *l, bool has_compact)
{
    c->words = sets_new(c->n_sets, c->set_words * sizeof *c->words);
    if (has_compact)
        c->compact = compact_sets(l, c->region_set);
    return !c->words || (has_compact && !c->compact.words) ? -ENOMEM : 0;
}

static void plain_free(struct sim_hierarchy *base)
{
    struct sim_plain *h = (struct sim_plain *)base;

    for (size_t k = 0; k < h->n_levels; k++) {
        free(h->level[k].words);
        free(h->level[k].compact.words);
    }
    sim_hierarchy_release_stats(&h->base);
    free(h);
}

/* Empties the caches; whatever words were in use, they can be compact again. */
static void clear_caches(struct sim_plain *h)
{
    memset(&h->regions, 0, sizeof h->regions);
    for (size_t k = 0; k < h->n_levels; k++) {
        if (h->compact)
            clear_compact(&h->level[k]);
        else
            sim_plain_clear_wide(&h->level[k]);
    }
    sim_plain_use_variant(h, h->compact ? h->compact : h->wide);
}

static bool can_run(const struct sim_machine *m)
{
    for (size_t k = 0; k < m->n_levels; k++) {
        if (m->level[k].line_bytes < SIM_WORD_MIN_LINE_BYTES)
            return false;
    }
    return sim_machine_is_plain(m);
}

/* Compact words and sweeps need lines of equal size. */
static bool has_one_line_size(const struct sim_machine *m)
{
    for (size_t k = 0; k < m->n_levels; k++) {
        if (m->level[k].line_bytes != m->level[0].line_bytes)
            return false;
    }
    return true;
}

/*
 * Finds the ring, a number of lines. Two lines can share a set of any level only if their numbers are equal modulo the
 * ring.
 */
static void init_ring(struct sim_plain *h, const struct sim_machine *m)
{
    uint64_t n_sets = 0, n_lines;

    for (size_t k = 0; k < m->n_levels; k++)
        n_sets |= m->level[k].n_sets;
    n_lines = n_sets & -n_sets;
    h->ring_bytes = n_lines * m->level[0].line_bytes;
    h->n_sweeps = !has_one_line_size(m)                   ? 0
                  : m->level[0].n_ways < SIM_PLAIN_SWEEPS ? m->level[0].n_ways
                                                          : SIM_PLAIN_SWEEPS;
}

/* Makes an object without words and variant. NULL: no memory. */
static struct sim_plain *new_shape(const struct sim_machine *m, unsigned n_tags)
{
    struct sim_plain *h = calloc(1, sizeof *h);

    if (!h || sim_hierarchy_init_stats(&h->base, m->n_levels, n_tags)) {
        free(h);
        return NULL;
    }
    h->n_levels = m->n_levels;
    h->n_settling = m->level[0].n_ways;
    sim_bursts_init(&h->bursts, &m->level[0]);
    init_ring(h, m);
    for (size_t k = 0; k < h->n_levels; k++)
        h->level[k] = level_of(&m->level[k]);
    return h;
}

/* The fastest first. */
static const struct sim_plain_variant *const list_variants[] = {
    &sim_plain_lists_avx512,
    &sim_plain_lists_avx2,
    &sim_plain_lists_portable,
};

/* Tells whether the variant was compiled for this CPU family, and this CPU executes the variant. */
static bool is_usable(const struct sim_plain_variant *v)
{
    return v->accept && sim_cpu_has(v->isa);
}

/* Returns the first usable variant; the last variant is always usable. */
static const struct sim_plain_variant *first_usable(const struct sim_plain_variant *const *v)
{
    while (!is_usable(*v))
        v++;
    return *v;
}

struct sim_plain *sim_plain_new_front(const struct sim_machine *m, struct sim_lists *lists)
{
    struct sim_plain *h = new_shape(m, SIM_USUAL_TAGS);

    if (h) {
        h->lists = lists;
        sim_plain_use_variant(h, first_usable(list_variants));
    }
    return h;
}

/* Compact words have room for the usual tags only. */
static int create_variants(struct sim_hierarchy **out, const struct sim_machine *m, unsigned n_tags,
                           const struct sim_plain_variant *compact)
{
    struct sim_plain *h = new_shape(m, n_tags);

    assert(m->n_levels && m->n_levels <= SIM_MAX_LEVELS && n_tags <= SIM_MAX_TAGS);
    *out = NULL;
    if (!h)
        return -ENOMEM;
    h->wide = &sim_plain_wide_portable;
    h->compact = has_one_line_size(m) && n_tags <= SIM_USUAL_TAGS ? compact : NULL;
    for (size_t k = 0; k < h->n_levels; k++) {
        int err = fill_level(&h->level[k], &m->level[k], h->compact != NULL);

        if (err) {
            plain_free(&h->base);
            return err;
        }
    }
    clear_caches(h);
    *out = &h->base;
    return 0;
}

/* Variants with compact words, the fastest first. */
static const struct sim_plain_variant *const compact_variants[] = {
    &sim_plain_compact_avx512,
    &sim_plain_compact_avx2,
    &sim_plain_compact_portable,
};

static int create_forced(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags,
                         const struct sim_plain_variant *v)
{
    *h = NULL;
    return is_usable(v) ? create_variants(h, m, n_tags, v) : -ENOTSUP;
}

static int create(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags)
{
    return create_variants(h, m, n_tags, first_usable(compact_variants));
}

static int create_avx512(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags)
{
    return create_forced(h, m, n_tags, &sim_plain_compact_avx512);
}

static int create_avx2(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags)
{
    return create_forced(h, m, n_tags, &sim_plain_compact_avx2);
}

static int create_portable(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags)
{
    return create_forced(h, m, n_tags, &sim_plain_compact_portable);
}

static int create_wide(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags)
{
    return create_variants(h, m, n_tags, NULL);
}

const char *sim_plain_variant_name(const struct sim_hierarchy *h)
{
    assert(h);
    return ((const struct sim_plain *)h)->variant->name;
}

static void records(struct sim_hierarchy *base, const uint64_t *record, size_t n)
{
    const struct sim_plain *h = (const struct sim_plain *)base;

    if (h->pack.follower)
        sim_records_as_bursts(base, record, n); /* a change to wide words does not cut such a burst in two */
    else
        h->variant->records(base, record, n);
}

/* Every miss brings a line in, and nothing else does. */
static void count_lines_in(struct sim_plain *h)
{
    for (unsigned tag = 0; tag < h->base.n_tags; tag++) {
        for (unsigned phase = 0; phase < SIM_MAX_PHASES; phase++) {
            struct sim_level_counts *c = sim_hierarchy_cell(&h->base, tag, phase)->level;

            for (size_t k = 0; k < h->n_levels; k++)
                c[k].lines_in = c[k].read_misses + c[k].write_misses;
        }
    }
}

/* The object is never const; deferred counts do not show. */
static const struct sim_stats *stats(const struct sim_hierarchy *base)
{
    struct sim_plain *h = (struct sim_plain *)(uintptr_t)base;

    if (h->pack.n_shared)
        h->pack.leader->variant->settle(h->pack.leader);
    h->variant->settle(h);
    if (h->pack.n_shared)
        sim_plain_pack_complete(h);
    count_lines_in(h);
    return base->stats;
}

static void clear_stats(struct sim_hierarchy *base)
{
    struct sim_plain *h = (struct sim_plain *)base;

    h->variant->settle(h);
    sim_hierarchy_zero_stats(base);
    for (struct sim_plain *f = h->pack.follower; f; f = f->pack.next)
        clear_stats(&f->base);
}

static void clear(struct sim_hierarchy *base)
{
    struct sim_plain *h = (struct sim_plain *)base;

    clear_stats(base);
    clear_caches(h);
    h->pack.is_apart = false;
    for (struct sim_plain *f = h->pack.follower; f; f = f->pack.next) {
        clear_caches(f);
        f->pack.n_shared = f->pack.n_levels;
    }
}

static void flush(struct sim_hierarchy *base, unsigned phase)
{
    struct sim_plain *h = (struct sim_plain *)base;

    h->variant->flush(h, phase);
    for (struct sim_plain *f = h->pack.follower; f; f = f->pack.next)
        f->variant->flush(f, phase);
}

/* The engines differ in the variant that an object gets. */
#define ENGINE(text, constructor)                                                                                      \
    {                                                                                                                  \
        .name = text, .can_run = can_run, .create = constructor, .free = plain_free, .follow = sim_plain_pack_follow,  \
        .records = records, .stats = stats, .clear_stats = clear_stats, .clear = clear, .flush = flush                 \
    }

const struct sim_engine sim_engine_plain = ENGINE("plain", create);
const struct sim_engine sim_engine_avx512 = ENGINE("avx512", create_avx512);
const struct sim_engine sim_engine_avx2 = ENGINE("avx2", create_avx2);
const struct sim_engine sim_engine_portable = ENGINE("portable", create_portable);
const struct sim_engine sim_engine_wide = ENGINE("wide", create_wide);
