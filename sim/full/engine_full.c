/* Objects of the full engine: create, clear, free, and the choice of the variant of the hot part. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/full/engine_full.h"
#include "sim/prefetch/prefetch.h"

static void clear_stats(struct sim_hierarchy *h)
{
    struct sim_full *e = (struct sim_full *)h;

    sim_full_hand_over(e);
    sim_hierarchy_zero_stats(h);
    for (struct sim_full *f = e->follower; f; f = f->next)
        sim_hierarchy_zero_stats(&f->base);
}

/* No line is on its way any more. */
static void land(struct sim_full *e)
{
    for (size_t i = 0; i < SIM_FULL_FLIGHTS; i++)
        e->flight[i].line = SIM_FULL_NO_LINE;
    e->n_stalls = 0;
}

static void clear(struct sim_hierarchy *h)
{
    struct sim_full *e = (struct sim_full *)h;

    for (size_t k = 0; k < e->n_levels; k++)
        sim_full_level_clear(&e->level[k]);
    for (size_t i = 0; i < e->machine.n_tlbs; i++)
        sim_full_tlb_clear(&e->tlb[i]);
    e->last_page = SIM_FULL_NO_LINE;
    e->queue_first = e->queue_end = e->n_buffers = 0;
    e->n_requests = e->n_timed = 0;
    e->now = 0;
    land(e);
    for (size_t i = 0; i < SIM_MAX_RECENT_LINES; i++)
        e->read_lately[i] = SIM_FULL_NO_LINE / 2; /* near no line */
    e->base.err = 0;
    clear_stats(h);
    e->load.source = 0;
    for (struct sim_full *f = e->follower; f; f = f->next)
        clear(&f->base);
}

/* Takes a follower from its leader's list. */
static void leave(struct sim_full *f)
{
    struct sim_full **at = &f->leader->follower;

    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
}

static void release(struct sim_hierarchy *h)
{
    struct sim_full *e = (struct sim_full *)h;

    if (e->leader)
        leave(e);
    for (size_t k = 0; k < SIM_MAX_LEVELS; k++)
        sim_full_level_release(&e->level[k]);
    for (size_t i = 0; i < SIM_MAX_TLBS; i++)
        sim_full_tlb_release(&e->tlb[i]);
    free(e->note);
    sim_hierarchy_release_stats(h);
    free(e);
}

/*
 * Tells whether bursts_tmpl.h can take loads: a second hit on a line says nothing new to the policy, and no line is in
 * several pages.
 */
static bool walks(const struct sim_machine *m)
{
    const struct sim_level *first = &m->level[0];

    return sim_replacement_find(first->policy)->hit_settles &&
           (!m->n_tlbs || first->line_bytes <= sim_machine_page_bytes(m));
}

/* Tells whether the level takes any store and passes nothing on. */
static bool is_write_back(const struct sim_level *l)
{
    return !l->is_write_through && !l->no_write_allocate && !l->no_full_store_fetch;
}

/* Tells whether no other level is told when a clean line leaves level k. */
static bool is_simple(const struct sim_full *e, size_t k)
{
    for (size_t j = k; j < e->n_levels; j++) {
        if (e->level[j].is_inclusive)
            return false;
    }
    return k + 1 == e->n_levels || !e->level[k + 1].is_exclusive;
}

/* Returns the kind of the only prefetcher that sees the first level's hits; 0 if there is none, or several. */
static uint8_t lone_seer(const struct sim_full *e)
{
    const struct sim_full_level *l = &e->level[0];
    struct sim_full_asker *const *seer = l->seer[SIM_FULL_SEEN_HIT];

    return *seer && !seer[1] && e->holds_all ? seer[0]->p.kind : 0;
}

/* Has the prefetchers of level k count in e. */
static void count_here(struct sim_full *e, size_t k)
{
    for (size_t i = 0; i < e->level[k].n_askers; i++)
        e->level[k].asker[i].counts = &e->base.stats->prefetcher[k][i];
}

static int init(struct sim_full *e, const struct sim_machine *m, unsigned n_tags)
{
    int err = sim_hierarchy_init_stats(&e->base, m->n_levels, n_tags);

    e->machine = *m;
    e->base.sink.accept = e->variant->accept;
    e->n_levels = m->n_levels;
    e->page_shift = sim_log2(sim_machine_page_bytes(m));
    e->walks_loads = walks(m);
    e->walks_stores = e->walks_loads && is_write_back(&m->level[0]);
    e->hits_repeat = sim_replacement_find(m->level[0].policy)->hits_repeat;
    sim_bursts_init(&e->bursts, &m->level[0]);
    for (size_t k = 0; !err && k < m->n_levels; k++) {
        err =
            sim_full_level_init(&e->level[k], &e->machine.level[k], sim_log2(sim_machine_frame_bytes(m)), m->page_seed);
        e->level[k].is_like_next = k + 1 < m->n_levels && m->level[k + 1].line_bytes == m->level[k].line_bytes;
        e->unit_shift = e->level[k].line_shift > e->unit_shift ? e->level[k].line_shift : e->unit_shift;
    }
    for (size_t k = 0; !err && k < e->n_levels; k++) {
        struct sim_full_level *l = &e->level[k];

        l->is_simple = is_simple(e, k);
        for (size_t i = 0; i < l->n_askers; i++)
            l->asker[i].by = sim_full_asking(k, 0, 0, l->asker[i].p.late, i);
        count_here(e, k);
    }
    e->page_lines_shift = e->page_shift - e->bursts.line_shift;
    e->is_usual = e->level[0].is_small && (e->level[0].has_order || e->level[0].has_tree) && e->hits_repeat &&
                  !m->combining_buffers;
    e->remembers_hits = true;
    for (size_t i = 0; !err && i < e->level[0].n_askers; i++)
        e->remembers_hits &= e->level[0].asker[i].p.on != SIM_PREFETCH_ON_ALL || e->level[0].asker[i].p.entries;
    e->holds_all = sim_full_holds_all(m);
    e->lone_seer = lone_seer(e);
    for (size_t i = 0; !err && i < m->n_tlbs; i++)
        err = sim_full_tlb_init(&e->tlb[i], &m->tlb[i]);
    return err;
}

static int create_variant(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags,
                          const struct sim_full_variant *v)
{
    struct sim_full *e = calloc(1, sizeof *e);
    int err;

    assert(m->n_levels && m->n_levels <= SIM_MAX_LEVELS && n_tags <= SIM_MAX_TAGS);
    *h = NULL;
    if (!e)
        return -ENOMEM;
    e->variant = v;
    err = init(e, m, n_tags);
    if (err) {
        release(&e->base);
        return err;
    }
    clear(&e->base);
    *h = &e->base;
    return 0;
}

/* The fastest first. */
static const struct sim_full_variant *const variants[] = { &sim_full_avx512, &sim_full_avx2, &sim_full_portable };

/* Tells whether the variant was compiled for this CPU family, and this CPU executes the variant. */
static bool is_usable(const struct sim_full_variant *v)
{
    return v->accept && sim_cpu_has(v->isa);
}

static int create_forced(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags,
                         const struct sim_full_variant *v)
{
    *h = NULL;
    return is_usable(v) ? create_variant(h, m, n_tags, v) : -ENOTSUP;
}

static int create(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags)
{
    const struct sim_full_variant *const *v = variants;

    while (!is_usable(*v))
        v++;
    return create_variant(h, m, n_tags, *v);
}

static int create_avx512(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags)
{
    return create_forced(h, m, n_tags, &sim_full_avx512);
}

static int create_avx2(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags)
{
    return create_forced(h, m, n_tags, &sim_full_avx2);
}

static int create_portable(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags)
{
    return create_forced(h, m, n_tags, &sim_full_portable);
}

static void flush(struct sim_hierarchy *h, unsigned phase)
{
    ((struct sim_full *)h)->variant->flush(h, phase);
}

/*
 * Tells whether lines can come into the second level without the first: the level keeps the lines that it brings, and
 * lines have one size.
 */
static bool can_touch(const struct sim_full *e)
{
    bool can = e->n_levels > 1 && !e->level[1].is_exclusive && !e->leader && !e->follower;

    for (size_t k = 0; k < e->n_levels; k++) {
        const struct sim_full_level *l = &e->level[k];

        can &= !l->is_classified && !l->shape->is_write_through && (k + 1 == e->n_levels || l->is_like_next);
    }
    return can;
}

static bool touch(struct sim_hierarchy *h, const struct sim_run *lines)
{
    struct sim_full *e = (struct sim_full *)h;

    if (!can_touch(e))
        return false;
    e->variant->touch(h, lines);
    return true;
}

static bool touch_far(struct sim_hierarchy *h, const struct sim_run *lines)
{
    struct sim_full *e = (struct sim_full *)h;

    if (e->n_levels < 3 || !can_touch(e))
        return touch(h, lines);
    e->variant->touch_far(h, lines);
    return true;
}

static bool reads_ahead(struct sim_hierarchy *h, const struct sim_run *lines)
{
    const struct sim_full *e = (const struct sim_full *)h;

    return can_touch(e) && e->variant->reads_ahead(h, lines);
}

static void begin_skip(struct sim_hierarchy *h)
{
    struct sim_full *e = (struct sim_full *)h;

    if (can_touch(e))
        sim_full_level_keep(&e->level[0]);
}

/* Hands a first-level set's dirty lines to the second level. Returns false if the second level lacks a line. */
static bool pass_dirty(struct sim_full *e, uint64_t set)
{
    struct sim_full_level *l = &e->level[0];
    struct sim_full_place p = { sim_full_level_row(l, set), 0 };
    bool has_all = true;

    for (; p.way < (int32_t)l->n_ways; p.way++) {
        const uint16_t flags = *sim_full_level_flags(l, p);
        struct sim_full_place at;

        if (*sim_full_level_line(p) == SIM_FULL_NO_LINE || !(flags & SIM_FULL_DIRTY))
            continue;
        at = sim_full_level_find(&e->level[1], *sim_full_level_line(p));
        if (sim_full_is_hit(at)) {
            uint16_t *to = sim_full_level_flags(&e->level[1], at);

            *to = (uint16_t)((*to & ~(unsigned)SIM_FULL_OWNER) | (flags & SIM_FULL_DATA));
        }
        has_all &= sim_full_is_hit(at);
    }
    return has_all;
}

/* Drops a set's lines that an inclusive level has lost. */
static void drop_lost(struct sim_full *e, uint64_t *row)
{
    struct sim_full_level *l = &e->level[0];
    struct sim_full_place p = { row, 0 };

    for (; p.way < (int32_t)l->n_ways; p.way++) {
        bool is_lost = false;

        for (size_t k = 1; k < e->n_levels && *sim_full_level_line(p) != SIM_FULL_NO_LINE; k++)
            is_lost |= e->level[k].is_inclusive &&
                       !sim_full_is_hit(sim_full_level_find(&e->level[k], *sim_full_level_line(p)));
        if (is_lost)
            sim_full_level_remove(l, p);
    }
}

static void end_skip(struct sim_hierarchy *h)
{
    struct sim_full *e = (struct sim_full *)h;
    struct sim_full_level *l = &e->level[0];

    for (uint64_t set = 0; l->has_kept && set < l->shape->n_sets; set++) {
        if (pass_dirty(e, set))
            drop_lost(e, sim_full_level_bring_back(l, set));
    }
    l->has_kept = false;
    land(e);
    e->n_changes++;
}

static void records(struct sim_hierarchy *h, const uint64_t *record, size_t n)
{
    ((struct sim_full *)h)->variant->records(h, record, n);
}

/* The object is never const; events that followers have not replayed yet do not show. */
static const struct sim_stats *stats(const struct sim_hierarchy *h)
{
    struct sim_full *e = (struct sim_full *)(uintptr_t)h;

    if (e->leader) {
        sim_full_hand_over(e->leader);
        sim_hierarchy_complete(&e->base, &e->leader->base, 1);
    }
    return h->stats;
}

static bool can_run(const struct sim_machine *m)
{
    (void)m;
    return true;
}

/* A level points to its shape in an object: the caller frees both objects together. */
static void swap_last(struct sim_hierarchy *a, struct sim_hierarchy *b)
{
    struct sim_full *x = (struct sim_full *)a, *y = (struct sim_full *)b;
    const size_t last = x->n_levels - 1;
    const struct sim_full_level held = x->level[last];

    assert(x->n_levels == y->n_levels && x != y);
    x->level[last] = y->level[last];
    y->level[last] = held;
    count_here(x, last);
    count_here(y, last);
}

/* The engines differ in the variant that an object gets. */
#define ENGINE(text, constructor)                                                                                      \
    {                                                                                                                  \
        .name = text, .can_run = can_run, .create = constructor, .free = release, .follow = sim_full_follow,           \
        .records = records, .stats = stats, .clear_stats = clear_stats, .clear = clear, .flush = flush,                \
        .swap_last = swap_last, .touch = touch, .touch_far = touch_far, .reads_ahead = reads_ahead,                    \
        .begin_skip = begin_skip, .end_skip = end_skip                                                                 \
    }

const struct sim_engine sim_engine_full = ENGINE("full", create);
const struct sim_engine sim_engine_full_avx512 = ENGINE("full-avx512", create_avx512);
const struct sim_engine sim_engine_full_avx2 = ENGINE("full-avx2", create_avx2);
const struct sim_engine sim_engine_full_portable = ENGINE("full-portable", create_portable);
