/*
 * The full engine: everything that hierarchy.h describes, one access after the other.
 *
 * A request on its way out may cause three things: a fetch further out, a write passing on, and a victim. While they
 * happen, only levels further out are changed, and levels inside only lose lines: prefetches, which would break that,
 * wait in a queue until the access is through. So one victim per level can be on its way out at a time (`leaving`), and
 * the line just brought in is never the one that an inclusive level throws out: such a level evicts only when it fills,
 * and it fills only lines that no level inside had before this request.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/pagemap.h"
#include "sim/prefetch.h"
#include "sim/replacement.h"
#include "sim/shadow.h"

#define ADDRESS_MASK (((uint64_t)1 << SIM_ADDRESS_BITS) - 1)
#define NO_LINE UINT64_MAX

/* What is known about a line: a byte beside its number. */
enum {
    OWNER = SIM_MAX_TAGS - 1, /* tag of the store that dirtied it last */
    DIRTY = 1 << 3,
    PREFETCHED = 1 << 4, /* and not used since */
    ASKER_SHIFT = 5,     /* tag of the access that had it prefetched */
};

_Static_assert(OWNER < DIRTY && OWNER << ASKER_SHIFT <= UINT8_MAX, "a line's flags must fit into a byte");

enum { QUEUE_LENGTH = 64, BLOCK_SHIFT = 12 };

struct level {
    const struct sim_replacement *policy;
    struct sim_replacement_level memory; /* the policy's */
    uint64_t *state;                     /* the policy's, [n_sets][set_words] */
    size_t set_words;
    uint64_t *line; /* [n_sets][n_ways], NO_LINE: invalid */
    uint8_t *flags;
    uint64_t n_sets;
    uint64_t set_mask; /* n_sets - 1 if that is a mask for a plain index, else 0 */
    uint32_t n_ways;
    uint32_t line_bytes;
    unsigned line_shift;
    bool is_exclusive, is_inclusive, is_classified;
    const struct sim_level *shape;
    struct sim_shadow *shadow;
    struct sim_prefetch_state *prefetch; /* [SIM_MAX_PREFETCHERS], NULL if there are none */
    uint64_t leaving;                    /* a victim on its way out; NO_LINE: none */
    uint8_t leaving_flags;
    uint64_t page, frame; /* the last translation; page NO_LINE: none */
};

struct tlb {
    uint64_t *page; /* [n_sets][n_ways] */
    uint64_t *used;
    uint64_t clock;
    uint64_t n_sets;
    uint32_t n_ways;
};

struct wanted {
    uint64_t line;
    uint8_t level;
    uint8_t tag;
    uint8_t phase;
};

struct buffer {
    uint64_t unit;
    uint8_t owner;
};

struct full {
    struct sim_hierarchy base; /* first */
    struct sim_machine machine;
    size_t n_levels;
    struct level level[SIM_MAX_LEVELS];
    struct tlb tlb[SIM_MAX_TLBS];
    uint64_t last_page;
    unsigned page_shift;
    struct wanted queue[QUEUE_LENGTH];
    size_t queue_first, queue_length;
    struct buffer buffer[SIM_MAX_COMBINING_BUFFERS]; /* the oldest first */
    size_t n_buffers;
    unsigned unit_shift;
    bool merges_loads, merges_stores; /* see merges() */
    struct sim_stats stats;
};

/* On whose account something happens; how far out its reads had to go: misses at all levels before. */
struct request {
    struct sim_cell *cell;
    uint8_t tag;
    uint8_t phase;
    uint8_t source;
};

/* A write on its way out. */
struct write {
    uint64_t addr;
    uint64_t bytes;
    bool is_store;    /* of the core, not a write-back */
    bool is_eviction; /* straight from the level inside */
};

/* Where a line is, or would be. */
struct place {
    uint64_t set;
    uint64_t first; /* way of the set, as an index of line[] */
    uint32_t way;
    bool is_hit;
};

static struct request request_of(struct full *e, unsigned tag, unsigned phase)
{
    return (struct request){ .cell = &e->stats.cell[tag][phase], .tag = (uint8_t)tag, .phase = (uint8_t)phase };
}

/* ---- one level ---- */

static uint64_t physical(const struct full *e, struct level *l, uint64_t line)
{
    uint64_t addr = line << l->line_shift;
    uint64_t page = addr >> e->page_shift;

    if (page != l->page) {
        l->page = page;
        l->frame = sim_pagemap_translate(page << e->page_shift, e->page_shift, e->machine.page_seed);
    }
    return (l->frame | (addr & (((uint64_t)1 << e->page_shift) - 1))) >> l->line_shift;
}

static uint64_t set_of(const struct full *e, struct level *l, uint64_t line)
{
    if (l->set_mask)
        return line & l->set_mask;
    if (l->shape->is_physically_indexed)
        line = physical(e, l, line);
    if (l->shape->n_slices > 1)
        return sim_sliced_set(line, l->n_sets, l->shape->n_slices);
    return line % l->n_sets;
}

static inline struct place find(const struct full *e, struct level *l, uint64_t line)
{
    struct place p = { .set = set_of(e, l, line) };

    p.first = p.set * l->n_ways;
    while (p.way < l->n_ways && l->line[p.first + p.way] != line)
        p.way++;
    p.is_hit = p.way < l->n_ways;
    return p;
}

static uint64_t *state_of(const struct level *l, uint64_t set)
{
    return l->state + set * l->set_words;
}

/* Counts a prefetched line that leaves level k unused. */
static void note_unused(struct full *e, size_t k, uint8_t flags, unsigned phase)
{
    if (flags & PREFETCHED)
        e->stats.cell[flags >> ASKER_SHIFT][phase].level[k].useless_prefetches++;
}

/* A read or write found the line. */
static void use(struct full *e, size_t k, const struct place *p, unsigned phase)
{
    struct level *l = &e->level[k];
    uint8_t *flags = &l->flags[p->first + p->way];

    if (*flags & PREFETCHED) {
        e->stats.cell[*flags >> ASKER_SHIFT][phase].level[k].useful_prefetches++;
        *flags &= DIRTY | OWNER;
    }
    l->policy->hit(&l->memory, state_of(l, p->set), p->way);
}

/* Takes a line that is there out of level k and returns its flags. */
static uint8_t take_out(struct full *e, size_t k, const struct place *p, unsigned phase)
{
    struct level *l = &e->level[k];
    uint8_t flags = l->flags[p->first + p->way];

    note_unused(e, k, flags, phase);
    l->line[p->first + p->way] = NO_LINE;
    if (l->policy->invalidate)
        l->policy->invalidate(&l->memory, state_of(l, p->set), p->way);
    return flags;
}

/* Drops a line, wherever in level k it is, even on its way out. Returns whether it was there. */
static bool drop(struct full *e, size_t k, uint64_t line, unsigned phase, uint8_t *flags)
{
    struct level *l = &e->level[k];
    struct place p = find(e, l, line);

    if (p.is_hit) {
        *flags = take_out(e, k, &p, phase);
        return true;
    }
    if (l->leaving != line)
        return false;
    *flags = l->leaving_flags;
    l->leaving = NO_LINE;
    return true;
}

/* Throws out of all levels inside k what level k's victim covers; the victim's flags take up dirty copies. */
static void back_invalidate(struct full *e, size_t k, const struct request *r)
{
    const struct level *l = &e->level[k];
    uint64_t addr = l->leaving << l->line_shift;

    for (size_t j = k; j-- > 0;) {
        unsigned shift = e->level[j].line_shift;

        for (uint64_t line = addr >> shift; line <= (addr + l->line_bytes - 1) >> shift; line++) {
            uint8_t flags;

            if (!drop(e, j, line, r->phase, &flags))
                continue;
            r->cell->level[j].back_invalidations++;
            if (flags & DIRTY)
                e->level[k].leaving_flags = flags & (DIRTY | OWNER);
        }
    }
}

static uint32_t free_way(const struct level *l, uint64_t first)
{
    bool from_end = sim_replacement_fills_last(&l->memory);

    for (uint32_t i = 0; i < l->n_ways; i++) {
        uint32_t way = from_end ? l->n_ways - 1 - i : i;

        if (l->line[first + way] == NO_LINE)
            return way;
    }
    return l->n_ways;
}

/* Puts a line that is not there into level k, clean; what it replaces is then leaving. */
static void put(struct full *e, size_t k, uint64_t line, struct place *p, const struct request *r)
{
    struct level *l = &e->level[k];
    uint64_t *state = state_of(l, p->set);

    assert(l->leaving == NO_LINE);
    if (l->policy->miss)
        l->policy->miss(&l->memory, state);
    p->way = free_way(l, p->first);
    if (p->way == l->n_ways) {
        p->way = l->policy->victim(&l->memory, state);
        l->leaving = l->line[p->first + p->way];
        l->leaving_flags = l->flags[p->first + p->way] & (DIRTY | OWNER);
        note_unused(e, k, l->flags[p->first + p->way], r->phase);
        if (l->is_inclusive)
            back_invalidate(e, k, r);
    }
    l->line[p->first + p->way] = line;
    l->flags[p->first + p->way] = 0;
    l->policy->fill(&l->memory, state, p->set, p->way);
}

/* Shows a request to the level's shadow; counts the class of a miss. */
static inline void classify(struct full *e, size_t k, uint64_t line, enum sim_shadow_use how, bool is_miss,
                            const struct request *r)
{
    struct sim_level_counts *c = &r->cell->level[k];
    int found;

    if (!e->level[k].is_classified)
        return;
    found = sim_shadow_use(e->level[k].shadow, line, how);
    if (found < 0)
        e->base.err = found;
    else if (is_miss)
        *(found == SIM_SHADOW_NEW    ? &c->compulsory_misses
          : found == SIM_SHADOW_LOST ? &c->capacity_misses
                                     : &c->conflict_misses) += 1;
}

/* ---- prefetching ---- */

static void want(struct full *e, size_t k, uint64_t line, uint64_t wanted, const struct request *r)
{
    unsigned shift = e->level[k].line_shift;

    if (wanted << shift >> BLOCK_SHIFT != line << shift >> BLOCK_SHIFT || e->queue_length == QUEUE_LENGTH)
        return;
    e->queue[(e->queue_first + e->queue_length++) % QUEUE_LENGTH] =
        (struct wanted){ .line = wanted, .level = (uint8_t)k, .tag = r->tag, .phase = r->phase };
}

/* Lets the prefetchers of level k see a request, before its line is used. */
static void watch(struct full *e, size_t k, uint64_t line, const struct place *p, const struct request *r)
{
    static const sim_prefetch_fn ask[] = {
        [SIM_PREFETCH_NEXT_LINE] = sim_prefetch_next_line,
        [SIM_PREFETCH_STREAM] = sim_prefetch_stream,
        [SIM_PREFETCH_STRIDE] = sim_prefetch_stride,
    };
    struct level *l = &e->level[k];
    struct sim_prefetch_request seen = {
        .line = (int64_t)line,
        .line_shift = l->line_shift,
        .tag = r->tag,
        .is_hit = p->is_hit,
        .is_first_use = p->is_hit && l->flags[p->first + p->way] & PREFETCHED,
    };
    int64_t lines[SIM_MAX_PREFETCH_LINES];

    for (size_t i = 0; i < SIM_MAX_PREFETCHERS && l->shape->prefetch[i].kind; i++) {
        size_t n = ask[l->shape->prefetch[i].kind](&l->prefetch[i], &l->shape->prefetch[i], &seen, lines);

        for (size_t j = 0; j < n; j++)
            want(e, k, line, (uint64_t)lines[j], r);
    }
}

/* ---- requests on their way out ---- */

static uint8_t fetch(struct full *e, size_t k, uint64_t addr, uint32_t bytes, struct request *r);
static void write_range(struct full *e, size_t k, const struct write *w, unsigned tag, unsigned phase);
static void send_victim(struct full *e, size_t k, struct request *r);

/* A level took a line without reading it: exclusive levels just outside have it no more. */
static void claim(struct full *e, size_t k, uint64_t addr, unsigned phase)
{
    for (; k < e->n_levels && e->level[k].is_exclusive; k++) {
        uint8_t flags;

        drop(e, k, addr >> e->level[k].line_shift, phase, &flags);
    }
}

/* Hands a clean victim of the level inside to the exclusive level k. */
static void fill_clean(struct full *e, size_t k, uint64_t line, struct request *r)
{
    struct level *l = &e->level[k];
    struct place p = find(e, l, line);

    assert(!p.is_hit);
    r->cell->level[k].clean_fills++;
    classify(e, k, line, SIM_SHADOW_KEEP, false, r);
    put(e, k, line, &p, r);
    claim(e, k + 1, line << l->line_shift, r->phase);
    send_victim(e, k, r);
}

static void write_back(struct full *e, size_t k, size_t to, uint64_t line, uint8_t flags, unsigned phase)
{
    const struct level *l = &e->level[k];
    unsigned owner = flags & OWNER;
    struct write w = {
        .addr = line << l->line_shift,
        .bytes = l->line_bytes,
        .is_eviction = to == k + 1 && l->leaving == line,
    };

    e->stats.cell[owner][phase].level[k].write_backs++;
    e->level[k].leaving = NO_LINE;
    write_range(e, to, &w, owner, phase);
}

/* Deals with what put() threw out of level k. */
static void send_victim(struct full *e, size_t k, struct request *r)
{
    struct level *l = &e->level[k];
    uint64_t line = l->leaving;

    if (line == NO_LINE)
        return;
    if (l->leaving_flags & DIRTY) {
        write_back(e, k, k + 1, line, l->leaving_flags, r->phase);
        return;
    }
    l->leaving = NO_LINE;
    if (k + 1 < e->n_levels && e->level[k + 1].is_exclusive)
        fill_clean(e, k + 1, line, r);
}

/* Notes that a read missed level k. */
static inline void go_past(struct request *r, size_t k)
{
    r->source = r->source > k ? r->source : (uint8_t)(k + 1);
}

/* Brings a line into level k that is not there, victim included. */
static void bring(struct full *e, size_t k, uint64_t line, struct place *p, struct request *r, uint8_t flags)
{
    struct level *l = &e->level[k];

    put(e, k, line, p, r);
    flags |= fetch(e, k + 1, line << l->line_shift, l->line_bytes, r);
    assert(l->line[p->first + p->way] == line);
    l->flags[p->first + p->way] = flags;
    send_victim(e, k, r);
}

/* A read arriving at level k. Returns DIRTY and the owner if the line comes out of an exclusive level with them. */
static uint8_t read_line(struct full *e, size_t k, uint64_t line, struct request *r)
{
    struct level *l = &e->level[k];
    struct place p = find(e, l, line);

    r->cell->level[k].reads++;
    if (l->is_classified)
        classify(e, k, line, l->is_exclusive ? SIM_SHADOW_TAKE : SIM_SHADOW_KEEP, !p.is_hit, r);
    if (l->prefetch)
        watch(e, k, line, &p, r);
    if (p.is_hit && l->is_exclusive)
        return take_out(e, k, &p, r->phase) & (DIRTY | OWNER);
    if (p.is_hit) {
        use(e, k, &p, r->phase);
        return 0;
    }
    r->cell->level[k].read_misses++;
    go_past(r, k);
    if (l->is_exclusive)
        return fetch(e, k + 1, line << l->line_shift, l->line_bytes, r);
    bring(e, k, line, &p, r, 0);
    return 0;
}

/* Reads what a line of the level inside covers from level k. */
static uint8_t fetch(struct full *e, size_t k, uint64_t addr, uint32_t bytes, struct request *r)
{
    unsigned shift = e->level[k].line_shift;
    uint8_t flags = 0;

    if (k == e->n_levels) {
        r->cell->memory_read_lines++;
        return 0;
    }
    for (uint64_t line = addr >> shift; line <= (addr + bytes - 1) >> shift; line++)
        flags |= read_line(e, k, line, r);
    return flags;
}

/* Brings in the line of a write that missed level k, but leaves its victim where it is. */
static uint8_t allocate(struct full *e, size_t k, uint64_t line, const struct write *w, struct place *p,
                        struct request *r)
{
    struct level *l = &e->level[k];
    bool may_skip = !w->is_store || l->shape->no_full_store_fetch;

    put(e, k, line, p, r);
    if (!may_skip || w->bytes < l->line_bytes)
        return fetch(e, k + 1, line << l->line_shift, l->line_bytes, r);
    claim(e, k + 1, line << l->line_shift, r->phase);
    return 0;
}

/* A write of (part of) one line arriving at level k. */
static void write_line(struct full *e, size_t k, uint64_t line, const struct write *w, struct request *r)
{
    struct level *l = &e->level[k];
    struct place p = find(e, l, line);
    bool allocates = l->is_exclusive ? w->is_eviction : !l->shape->no_write_allocate;

    r->cell->level[k].writes++;
    classify(e, k, line, allocates ? SIM_SHADOW_KEEP : SIM_SHADOW_REFRESH, !p.is_hit, r);
    if (l->prefetch && !k)
        watch(e, k, line, &p, r);
    if (p.is_hit)
        use(e, k, &p, r->phase);
    else
        r->cell->level[k].write_misses++;
    if (!p.is_hit && allocates) {
        uint8_t flags = allocate(e, k, line, w, &p, r);

        l->flags[p.first + p.way] = flags;
    }
    if ((p.is_hit || allocates) && !l->shape->is_write_through) {
        l->flags[p.first + p.way] = (uint8_t)((l->flags[p.first + p.way] & ~OWNER) | DIRTY | r->tag);
    } else {
        struct write rest = *w;

        rest.is_eviction = false;
        write_range(e, k + 1, &rest, r->tag, r->phase);
    }
    if (!p.is_hit && allocates)
        send_victim(e, k, r);
}

static void write_memory(struct full *e, const struct write *w, struct sim_cell *cell)
{
    unsigned shift = e->level[e->n_levels - 1].line_shift;

    if (w->is_store) {
        cell->memory_stores++;
        cell->memory_store_bytes += w->bytes;
    } else {
        cell->memory_written_lines += ((w->addr + w->bytes - 1) >> shift) - (w->addr >> shift) + 1;
    }
}

/* Writes a range, which does not wrap, to level k line by line. */
static void write_range(struct full *e, size_t k, const struct write *w, unsigned tag, unsigned phase)
{
    struct request r = request_of(e, tag, phase);
    uint64_t end = w->addr + w->bytes;

    if (k == e->n_levels) {
        write_memory(e, w, r.cell);
        return;
    }
    for (struct write part = *w; part.addr < end; part.addr += part.bytes) {
        uint64_t line = part.addr >> e->level[k].line_shift;
        uint64_t next = (line + 1) << e->level[k].line_shift;

        part.bytes = (next < end ? next : end) - part.addr;
        write_line(e, k, line, &part, &r);
    }
}

/* ---- combining buffers ---- */

static void write_buffer(struct full *e, size_t i, unsigned phase)
{
    unsigned last_shift = e->level[e->n_levels - 1].line_shift;

    e->stats.cell[e->buffer[i].owner][phase].memory_written_lines += (uint64_t)1 << (e->unit_shift - last_shift);
    e->n_buffers--;
    memmove(&e->buffer[i], &e->buffer[i + 1], (e->n_buffers - i) * sizeof e->buffer[0]);
}

/* The place of a unit's buffer; n_buffers if it has none. */
static size_t find_buffer(const struct full *e, uint64_t unit)
{
    size_t i = 0;

    while (i < e->n_buffers && e->buffer[i].unit != unit)
        i++;
    return i;
}

static void drop_unit(struct full *e, uint64_t unit, unsigned phase)
{
    uint64_t addr = unit << e->unit_shift;
    uint64_t last = addr + ((uint64_t)1 << e->unit_shift) - 1;
    uint8_t flags;

    for (size_t k = 0; k < e->n_levels; k++) {
        for (uint64_t line = addr >> e->level[k].line_shift; line <= last >> e->level[k].line_shift; line++)
            drop(e, k, line, phase, &flags);
    }
}

static void combine(struct full *e, uint64_t unit, const struct request *r)
{
    size_t i;

    drop_unit(e, unit, r->phase);
    i = find_buffer(e, unit);
    if (i == e->n_buffers) {
        if (e->n_buffers == e->machine.combining_buffers)
            write_buffer(e, 0, r->phase);
        i = e->n_buffers++;
        e->buffer[i].unit = unit;
    }
    e->buffer[i].owner = r->tag;
}

/* Calls something for every aligned piece of 2^shift bytes that an access touches, in address order. */
static void for_each_piece(struct full *e, uint64_t addr, uint32_t bytes, unsigned shift, const struct request *r,
                           void (*f)(struct full *e, uint64_t piece, const struct request *r))
{
    uint64_t size = (uint64_t)1 << shift;
    uint64_t n = ((addr & (size - 1)) + bytes - 1) / size + 1;

    for (uint64_t i = 0; i < n; i++)
        f(e, ((addr + i * size) & ADDRESS_MASK) >> shift, r);
}

static void drain_unit(struct full *e, uint64_t unit, const struct request *r)
{
    size_t i = find_buffer(e, unit);

    if (i < e->n_buffers)
        write_buffer(e, i, r->phase);
}

/* ---- TLBs ---- */

/* Looks a page up and brings it in. Returns whether it was there. */
static bool tlb_use(struct tlb *t, uint64_t page)
{
    uint64_t first = page % t->n_sets * t->n_ways;
    uint64_t oldest = first;

    for (uint64_t i = first; i < first + t->n_ways; i++) {
        if (t->page[i] == page) {
            t->used[i] = ++t->clock;
            return true;
        }
        oldest = t->used[i] < t->used[oldest] ? i : oldest;
    }
    t->page[oldest] = page;
    t->used[oldest] = ++t->clock;
    return false;
}

/* The page of the access before this one is the most recently used of the first TLB: using it again changes nothing. */
static void translate(struct full *e, uint64_t page, const struct request *r)
{
    r->cell->tlb[0].uses++;
    if (page == e->last_page)
        return;
    e->last_page = page;
    for (size_t i = 0; i < e->machine.n_tlbs; i++) {
        r->cell->tlb[i].uses += i > 0;
        if (tlb_use(&e->tlb[i], page))
            return;
        r->cell->tlb[i].misses++;
    }
}

/* ---- accesses ---- */

/* Brings a line into level k ahead of its use. */
static void prefetch(struct full *e, size_t k, uint64_t line, struct place *p, struct request *r)
{
    r->cell->level[k].prefetch_fills++;
    bring(e, k, line, p, r, (uint8_t)(PREFETCHED | r->tag << ASKER_SHIFT));
}

static void run_queue(struct full *e)
{
    while (e->queue_length) {
        struct wanted w = e->queue[e->queue_first];
        struct request r = request_of(e, w.tag, w.phase);
        struct level *l = &e->level[w.level];
        struct place p = find(e, l, w.line);

        e->queue_first = (e->queue_first + 1) % QUEUE_LENGTH;
        e->queue_length--;
        if (!p.is_hit && find_buffer(e, w.line << l->line_shift >> e->unit_shift) == e->n_buffers)
            prefetch(e, w.level, w.line, &p, &r);
    }
}

static void prefetch_software(struct full *e, uint64_t line, struct request *r)
{
    struct level *l = &e->level[0];
    struct place p = find(e, l, line);

    if (p.is_hit)
        l->policy->hit(&l->memory, state_of(l, p.set), p.way);
    else
        prefetch(e, 0, line, &p, r);
}

/* One line's part of an access. */
static inline void access_line(struct full *e, unsigned kind, uint64_t addr, uint64_t bytes, struct request *r)
{
    uint64_t line = addr >> e->level[0].line_shift;

    if (kind == SIM_LOAD) {
        read_line(e, 0, line, r);
    } else if (kind == SIM_PREFETCH) {
        prefetch_software(e, line, r);
    } else {
        struct write w = { .addr = addr, .bytes = bytes, .is_store = true };

        write_line(e, 0, line, &w, r);
    }
    if (e->queue_length)
        run_queue(e);
}

/* What comes before the lines: pages, and buffered units. */
static void prepare(struct full *e, unsigned kind, uint64_t addr, uint32_t bytes, const struct request *r)
{
    if (e->machine.n_tlbs)
        for_each_piece(e, addr, bytes, e->page_shift, r, translate);
    if (e->n_buffers && kind != SIM_STORE_NT)
        for_each_piece(e, addr, bytes, e->unit_shift, r, drain_unit);
}

static void access_one(struct full *e, const struct sim_run *run, unsigned kind, uint64_t addr, bool has_extras)
{
    struct request r = request_of(e, run->tag, run->phase);
    uint64_t line_bytes = e->level[0].line_bytes;
    uint64_t left = run->access_bytes;

    addr &= ADDRESS_MASK;
    if (has_extras) {
        prepare(e, kind, addr, run->access_bytes, &r);
        if (kind == SIM_STORE_NT) {
            for_each_piece(e, addr, run->access_bytes, e->unit_shift, &r, combine);
            return;
        }
    }
    for (uint64_t n; left; left -= n, addr = (addr + n) & ADDRESS_MASK) {
        n = line_bytes - (addr & (line_bytes - 1));
        n = n < left ? n : left;
        access_line(e, kind, addr, n, &r);
    }
    for (size_t k = 0; kind == SIM_LOAD && k < r.source; k++)
        r.cell->level[k].load_misses++;
}

static void count_accesses(struct full *e, const struct sim_run *r)
{
    struct sim_cell *cell = &e->stats.cell[r->tag][r->phase];

    switch (r->kind) {
    case SIM_LOAD:
        cell->loads += r->count;
        cell->load_bytes += (uint64_t)r->count * r->access_bytes;
        break;
    case SIM_PREFETCH:
        cell->software_prefetches += r->count;
        break;
    default:
        cell->nt_stores += r->kind == SIM_STORE_NT ? r->count : 0;
        cell->stores += r->count;
        cell->store_bytes += (uint64_t)r->count * r->access_bytes;
    }
}

/* How many of a run's next accesses, of which `left` are to come, lie within the first level's line at addr. */
static inline uint32_t accesses_within_line(const struct full *e, const struct sim_run *r, uint64_t addr, uint32_t left)
{
    int64_t line_bytes = e->level[0].line_bytes;
    int64_t offset = (int64_t)(addr & (uint64_t)(line_bytes - 1)), stride = r->stride_bytes;
    int64_t room = line_bytes - (int64_t)r->access_bytes - offset; /* behind the access */
    int64_t n;

    if (room < 0)
        return 0;
    if (!stride)
        return left;
    if (stride >= line_bytes || stride <= -line_bytes)
        return 1;
    n = (stride > 0 ? room / stride : offset / -stride) + 1;
    return n < left ? (uint32_t)n : left;
}

/* Makes n accesses of a run that lie within one line: until one hits one by one, then by counting (see merges()). */
static inline void access_within_line(struct full *e, const struct sim_run *run, unsigned kind, uint64_t addr,
                                      uint32_t n, struct request *r)
{
    struct sim_level_counts *c = &r->cell->level[0];

    for (; n; n--, addr += (uint64_t)run->stride_bytes) {
        uint64_t write_misses = c->write_misses;

        r->source = 0;
        access_line(e, kind, addr & ADDRESS_MASK, run->access_bytes, r);
        for (size_t k = 0; kind == SIM_LOAD && k < r->source; k++)
            c[k].load_misses++;
        if (!r->source && c->write_misses == write_misses)
            break;
    }
    *(kind == SIM_LOAD ? &c->reads : &c->writes) += n ? n - 1 : 0;
}

static void walk_merging(struct full *e, const struct sim_run *r, unsigned kind, uint64_t addr)
{
    struct request request = request_of(e, r->tag, r->phase);

    for (uint32_t left = r->count, n; left; left -= n, addr += n * (uint64_t)r->stride_bytes) {
        n = accesses_within_line(e, r, addr, left);
        if (n)
            access_within_line(e, r, kind, addr, n, &request);
        else
            access_one(e, r, kind, addr, false);
        n += !n;
    }
}

/* One repetition of one run. */
static void walk(struct full *e, const struct sim_run *r, uint64_t addr)
{
    bool combines = e->machine.combining_buffers;
    bool has_extras = combines || e->machine.n_tlbs;
    unsigned kind = r->kind == SIM_STORE_NT && !combines ? SIM_STORE : r->kind;

    assert(r->access_bytes && r->kind < SIM_N_KINDS && r->tag < SIM_MAX_TAGS && r->phase < SIM_MAX_PHASES);
    count_accesses(e, r);
    if (kind == SIM_PREFETCH && !e->machine.has_software_prefetch)
        return;
    if ((kind == SIM_LOAD && e->merges_loads) || (kind == SIM_STORE && e->merges_stores)) {
        walk_merging(e, r, kind, addr);
        return;
    }
    for (uint32_t i = 0; i < r->count; i++, addr += (uint64_t)r->stride_bytes)
        access_one(e, r, kind, addr, has_extras);
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct full *e = (struct full *)self;

    assert(n_runs <= SIM_MAX_BURST_RUNS);
    for (uint64_t t = 0; t < n_times; t++) {
        for (size_t i = 0; i < n_runs; i++) {
            if (run[i].count)
                walk(e, &run[i], run[i].addr + t * (uint64_t)run[i].step_bytes);
        }
    }
}

/* ---- flushing ---- */

/* The dirty way to be written back next, or n_ways. */
static uint32_t next_dirty(const struct level *l, uint64_t set)
{
    const uint64_t *used = l->policy == &sim_replacement_lru ? state_of(l, set) : NULL;
    uint32_t next = l->n_ways;

    for (uint32_t way = 0; way < l->n_ways; way++) {
        uint64_t i = set * l->n_ways + way;

        if (l->line[i] != NO_LINE && l->flags[i] & DIRTY && (next == l->n_ways || (used && used[way] < used[next])))
            next = way;
    }
    return next;
}

static void flush_level(struct full *e, size_t k, unsigned phase)
{
    struct level *l = &e->level[k];
    size_t to = k + 1;

    while (to < e->n_levels && e->level[to].is_exclusive)
        to++;
    for (uint64_t set = 0; set < l->n_sets; set++) {
        for (uint32_t way; (way = next_dirty(l, set)) < l->n_ways;) {
            uint64_t i = set * l->n_ways + way;
            uint8_t flags = l->flags[i];

            l->flags[i] = flags & (uint8_t) ~(DIRTY | OWNER);
            write_back(e, k, to, l->line[i], flags, phase);
        }
    }
}

static void flush(struct sim_hierarchy *h, unsigned phase)
{
    struct full *e = (struct full *)h;

    while (e->n_buffers)
        write_buffer(e, 0, phase);
    for (size_t k = 0; k < e->n_levels; k++)
        flush_level(e, k, phase);
    run_queue(e);
}

/* ---- life ---- */

static void clear_stats(struct sim_hierarchy *h)
{
    struct full *e = (struct full *)h;

    memset(e->stats.cell, 0, sizeof e->stats.cell);
}

static void clear_level(struct level *l)
{
    uint64_t n = l->n_sets * l->n_ways;

    for (uint64_t i = 0; i < n; i++)
        l->line[i] = NO_LINE;
    memset(l->flags, 0, (size_t)n);
    sim_replacement_level_init(&l->memory, l->shape->policy, l->n_ways, l->n_sets, l->shape->seed);
    for (uint64_t set = 0; set < l->n_sets; set++)
        l->policy->clear(&l->memory, state_of(l, set));
    if (l->shadow)
        sim_shadow_clear(l->shadow);
    if (l->prefetch)
        memset(l->prefetch, 0, SIM_MAX_PREFETCHERS * sizeof *l->prefetch);
    l->leaving = l->page = NO_LINE;
}

static void clear_tlb(struct tlb *t)
{
    for (uint64_t i = 0; i < t->n_sets * t->n_ways; i++) {
        t->page[i] = NO_LINE;
        t->used[i] = 0;
    }
    t->clock = 0;
}

static void clear(struct sim_hierarchy *h)
{
    struct full *e = (struct full *)h;

    for (size_t k = 0; k < e->n_levels; k++)
        clear_level(&e->level[k]);
    for (size_t i = 0; i < e->machine.n_tlbs; i++)
        clear_tlb(&e->tlb[i]);
    e->last_page = NO_LINE;
    e->queue_length = e->queue_first = e->n_buffers = 0;
    e->base.err = 0;
    clear_stats(h);
}

static unsigned log2_of(uint64_t power)
{
    unsigned shift = 0;

    while (power >> shift != 1)
        shift++;
    return shift;
}

/* Everything but the contents. */
static int init_level(struct level *l, const struct sim_level *shape)
{
    uint64_t n = shape->n_sets * shape->n_ways;
    bool is_simple = !shape->is_physically_indexed && shape->n_slices <= 1;

    l->shape = shape;
    l->policy = sim_replacement_find(shape->policy);
    l->set_words = l->policy->set_words(shape->n_ways);
    l->n_sets = shape->n_sets;
    l->set_mask = is_simple && !(shape->n_sets & (shape->n_sets - 1)) ? shape->n_sets - 1 : 0;
    l->n_ways = shape->n_ways;
    l->line_bytes = shape->line_bytes;
    l->line_shift = log2_of(shape->line_bytes);
    l->is_exclusive = shape->inclusion == SIM_EXCLUSIVE;
    l->is_inclusive = shape->inclusion == SIM_INCLUSIVE;
    l->is_classified = shape->is_classified;
    l->line = calloc((size_t)n, sizeof *l->line);
    l->flags = calloc((size_t)n, sizeof *l->flags);
    l->state = calloc((size_t)l->n_sets * l->set_words + 1, sizeof *l->state);
    if (!l->line || !l->flags || !l->state)
        return -ENOMEM;
    if (shape->prefetch[0].kind && !(l->prefetch = calloc(SIM_MAX_PREFETCHERS, sizeof *l->prefetch)))
        return -ENOMEM;
    return l->is_classified ? sim_shadow_new(&l->shadow, n) : 0;
}

static int init_tlb(struct tlb *t, const struct sim_tlb *shape)
{
    t->n_ways = shape->n_ways;
    t->n_sets = shape->n_entries / shape->n_ways;
    t->page = calloc(shape->n_entries, sizeof *t->page);
    t->used = calloc(shape->n_entries, sizeof *t->used);
    return t->page && t->used ? 0 : -ENOMEM;
}

static void release(struct sim_hierarchy *h)
{
    struct full *e = (struct full *)h;

    for (size_t k = 0; k < SIM_MAX_LEVELS; k++) {
        free(e->level[k].line);
        free(e->level[k].flags);
        free(e->level[k].state);
        free(e->level[k].prefetch);
        sim_shadow_free(e->level[k].shadow);
    }
    for (size_t i = 0; i < SIM_MAX_TLBS; i++) {
        free(e->tlb[i].page);
        free(e->tlb[i].used);
    }
    free(e);
}

/*
 * Whether accesses to a line that the access before has hit in the first level need only be counted: they hit as well
 * and leave everything as it is. That takes a policy to which a second hit says nothing new, and nobody who watches.
 */
static bool merges(const struct sim_machine *m)
{
    const struct sim_level *first = &m->level[0];

    return !m->n_tlbs && !m->combining_buffers && !first->prefetch[0].kind &&
           sim_replacement_find(first->policy)->hit_settles;
}

static int init(struct full *e, const struct sim_machine *m)
{
    int err = 0;

    e->machine = *m;
    e->base.sink.accept = accept;
    e->stats.n_levels = e->n_levels = m->n_levels;
    e->page_shift = log2_of(sim_machine_page_bytes(m));
    e->merges_loads = merges(m);
    e->merges_stores = e->merges_loads && !m->level[0].is_write_through;
    for (size_t k = 0; !err && k < m->n_levels; k++) {
        err = init_level(&e->level[k], &e->machine.level[k]);
        e->unit_shift = e->level[k].line_shift > e->unit_shift ? e->level[k].line_shift : e->unit_shift;
    }
    for (size_t i = 0; !err && i < m->n_tlbs; i++)
        err = init_tlb(&e->tlb[i], &m->tlb[i]);
    return err;
}

static int create(struct sim_hierarchy **h, const struct sim_machine *m)
{
    struct full *e = calloc(1, sizeof *e);
    int err;

    *h = NULL;
    if (!e)
        return -ENOMEM;
    err = init(e, m);
    if (err) {
        release(&e->base);
        return err;
    }
    clear(&e->base);
    *h = &e->base;
    return 0;
}

static const struct sim_stats *stats(const struct sim_hierarchy *h)
{
    return &((const struct full *)h)->stats;
}

static bool can_run(const struct sim_machine *m)
{
    (void)m;
    return true;
}

const struct sim_engine sim_engine_full = {
    .name = "full",
    .can_run = can_run,
    .create = create,
    .free = release,
    .stats = stats,
    .clear_stats = clear_stats,
    .clear = clear,
    .flush = flush,
};
