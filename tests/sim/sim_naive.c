#include "tests/sim/sim_naive.h"

#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_naive_lines.h"
#include "tests/sim/sim_naive_prefetch.h"
#include "tests/sim/sim_naive_requests.h"

/* ---- non-temporal stores ---- */

static void empty_buffer(struct sim_naive *s, size_t i, unsigned phase)
{
    naive_cell(s, s->buffer[i].owner, phase)->memory_written_lines +=
        s->unit_bytes / s->level[s->n_levels - 1].shape.line_bytes;
    for (; i + 1 < s->n_buffers; i++)
        s->buffer[i] = s->buffer[i + 1];
    s->n_buffers--;
}

static bool is_buffered(const struct sim_naive *s, uint64_t unit, size_t *i)
{
    for (*i = 0; *i < s->n_buffers; ++*i) {
        if (s->buffer[*i].unit == unit)
            return true;
    }
    return false;
}

static void store_past(struct sim_naive *s, uint64_t unit, const struct naive_request *r)
{
    size_t i;

    for (size_t k = 0; k < s->n_levels; k++) {
        uint64_t line_bytes = s->level[k].shape.line_bytes;

        for (uint64_t addr = unit * s->unit_bytes; addr < (unit + 1) * s->unit_bytes; addr += line_bytes)
            naive_drop(s, k, addr / line_bytes, r->phase);
    }
    if (!is_buffered(s, unit, &i)) {
        if (s->n_buffers == s->m.combining_buffers)
            empty_buffer(s, 0, r->phase);
        i = s->n_buffers++;
        s->buffer[i].unit = unit;
    }
    s->buffer[i].owner = r->tag;
}

/* ---- TLBs ---- */

static bool look_up(struct sim_naive *s, size_t i, uint64_t page)
{
    uint32_t n = s->m.tlb[i].n_ways;
    uint64_t *set = s->tlb[i].page + page % (s->m.tlb[i].n_entries / n) * n;
    uint32_t w = 0;
    bool is_hit;

    while (w + 1 < n && set[w] != page + 1)
        w++;
    is_hit = set[w] == page + 1;
    memmove(&set[1], &set[0], w * sizeof *set);
    set[0] = page + 1;
    return is_hit;
}

static void walk_tables(struct sim_naive *s, uint64_t page, const struct sim_run *run)
{
    struct naive_request r = { .tag = run->tag, .phase = run->phase, .is_walk = true };
    struct sim_cell *cell = naive_cell(s, run->tag, run->phase);

    for (uint64_t i = 0; i < s->m.page_tables; i++) {
        uint64_t addr = ((uint64_t)8 + i) * ((uint64_t)1 << 54) + page * 8;
        uint64_t misses = cell->level[0].read_misses;

        naive_read_line(s, 0, addr / s->level[0].shape.line_bytes, &r);
        cell->tlb[s->m.n_tlbs - 1].walk_fills += cell->level[0].read_misses - misses;
    }
}

static void translate(struct sim_naive *s, uint64_t page, const struct sim_run *run)
{
    struct sim_cell *cell = naive_cell(s, run->tag, run->phase);

    for (size_t i = 0; i < s->m.n_tlbs; i++) {
        cell->tlb[i].uses++;
        if (look_up(s, i, page))
            return;
        cell->tlb[i].misses++;
    }
    if (s->m.n_tlbs)
        walk_tables(s, page, run);
}

/* ---- accesses ---- */

static void bring_what_is_queued(struct sim_naive *s)
{
    while (s->n_queue) {
        struct naive_wish w = s->queue[0];
        struct naive_request r = { .tag = w.tag, .phase = w.phase, .is_prefetch = true };
        size_t i;

        memmove(&s->queue[0], &s->queue[1], --s->n_queue * sizeof s->queue[0]);
        if (naive_find(s, w.k, w.line) || is_buffered(s, w.line * s->level[w.k].shape.line_bytes / s->unit_bytes, &i))
            continue;
        naive_counts(s, w.k, w.tag, w.phase)->prefetch_fills++;
        naive_read_into(s, w.k, w.line, &r, &w);
    }
}

static void prefetch_line(struct sim_naive *s, uint64_t line, struct naive_request *r)
{
    struct naive_way *w = naive_find(s, 0, line);

    if (w) {
        naive_refresh(s, 0, w);
        return;
    }
    naive_counts(s, 0, r->tag, r->phase)->prefetch_fills++;
    naive_counts(s, 0, r->tag, r->phase)->software_fills++;
    r->is_prefetch = r->is_instructed = true;
    naive_read_into(s, 0, line, r, &(struct naive_wish){ .by = SIM_SOFTWARE_PREFETCHER });
}

/* Goes through all bytes of an access. Returns the next byte that begins a new aligned piece, or false at the end. */
static bool next_piece(uint64_t addr, uint32_t bytes, uint64_t piece_bytes, uint32_t *i, uint64_t *piece)
{
    for (; *i < bytes; ++*i) {
        uint64_t a = (addr + *i) % ((uint64_t)1 << SIM_ADDRESS_BITS);

        if (*i && a % piece_bytes)
            continue;
        ++*i;
        *piece = a / piece_bytes;
        return true;
    }
    return false;
}

/* Pages and buffered units touched by an access; a combining store ends here. */
static void before_lines(struct sim_naive *s, const struct sim_run *run, uint64_t addr, struct naive_request *r)
{
    uint64_t page_bytes = s->m.page_bytes ? s->m.page_bytes : 4096;
    uint64_t piece;
    size_t b;

    for (uint32_t i = 0; next_piece(addr, run->access_bytes, page_bytes, &i, &piece);)
        translate(s, piece, run);
    for (uint32_t i = 0; s->m.combining_buffers && next_piece(addr, run->access_bytes, s->unit_bytes, &i, &piece);) {
        if (run->kind == SIM_STORE_NT)
            store_past(s, piece, r);
        else if (is_buffered(s, piece, &b))
            empty_buffer(s, b, run->phase);
    }
}

static void access_lines(struct sim_naive *s, const struct sim_run *run, uint64_t addr, struct naive_request *r)
{
    uint64_t line_bytes = s->level[0].shape.line_bytes;
    uint64_t line;

    for (uint32_t i = 0; next_piece(addr, run->access_bytes, line_bytes, &i, &line);) {
        uint64_t first = i - 1;
        uint64_t at = (addr + first) % ((uint64_t)1 << SIM_ADDRESS_BITS);
        uint64_t room = line_bytes - at % line_bytes;
        uint64_t left = run->access_bytes - first;

        s->now += run->kind != SIM_PREFETCH;
        if (run->kind == SIM_LOAD)
            naive_read_line(s, 0, line, r);
        else if (run->kind == SIM_PREFETCH)
            prefetch_line(s, line, r);
        else
            naive_write_part(s, 0, (struct naive_data){ at, room < left ? room : left, true, false }, r);
        bring_what_is_queued(s);
    }
}

static void access_one(struct sim_naive *s, const struct sim_run *run, unsigned place, uint64_t addr)
{
    struct sim_cell *cell = naive_cell(s, run->tag, run->phase);
    struct naive_request r = { .tag = run->tag, .phase = run->phase, .place = place };

    if (run->kind == SIM_PREFETCH) {
        cell->software_prefetches++;
        if (!s->m.has_software_prefetch)
            return;
    } else if (run->kind == SIM_LOAD) {
        cell->loads++;
        cell->load_bytes += run->access_bytes;
    } else {
        cell->stores++;
        cell->nt_stores += run->kind == SIM_STORE_NT;
        cell->store_bytes += run->access_bytes;
    }
    before_lines(s, run, addr, &r);
    if (run->kind == SIM_STORE_NT && s->m.combining_buffers)
        return;
    access_lines(s, run, addr, &r);
    for (size_t k = 0; k < s->n_levels; k++)
        cell->level[k].load_misses += run->kind == SIM_LOAD && r.missed[k];
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sim_naive *s = (struct sim_naive *)self;

    for (uint64_t t = 0; t < n_times; t++) {
        for (size_t r = 0; r < n_runs; r++) {
            for (uint32_t i = 0; i < run[r].count; i++)
                access_one(s, &run[r], (unsigned)r,
                           run[r].addr + t * (uint64_t)run[r].step_bytes + i * (uint64_t)run[r].stride_bytes);
        }
    }
}

/* ---- life ---- */

static bool build_level(struct naive_level *l, const struct sim_level *shape)
{
    size_t n = (size_t)shape->n_sets * shape->n_ways;

    l->shape = *shape;
    l->way = calloc(n, sizeof *l->way);
    l->shadow.held = calloc(n + 1, sizeof *l->shadow.held);
    return l->way && l->shadow.held;
}

struct sim_naive *sim_naive_new(const struct sim_machine *m)
{
    struct sim_naive *s = calloc(1, sizeof *s);
    bool is_built = s;

    if (!s)
        return NULL;
    s->m = *m;
    s->sink.accept = accept;
    for (size_t i = 0; i < SIM_MAX_TAGS / SIM_USUAL_TAGS; i++)
        s->stats[i].n_levels = m->n_levels;
    for (; is_built && s->n_levels < m->n_levels; s->n_levels++) {
        is_built = build_level(&s->level[s->n_levels], &m->level[s->n_levels]);
        if (m->level[s->n_levels].line_bytes > s->unit_bytes)
            s->unit_bytes = m->level[s->n_levels].line_bytes;
    }
    for (size_t i = 0; i < m->n_tlbs; i++) {
        s->tlb[i].page = calloc(m->tlb[i].n_entries, sizeof *s->tlb[i].page);
        is_built = is_built && s->tlb[i].page;
    }
    if (!is_built) {
        sim_naive_free(s);
        return NULL;
    }
    sim_naive_clear(s);
    return s;
}

void sim_naive_free(struct sim_naive *s)
{
    if (!s)
        return;
    for (size_t k = 0; k < s->n_levels; k++) {
        free(s->level[k].way);
        free(s->level[k].shadow.held);
        free(s->level[k].shadow.seen);
    }
    for (size_t i = 0; i < s->m.n_tlbs; i++)
        free(s->tlb[i].page);
    free(s);
}

struct sim_sink *sim_naive_sink(struct sim_naive *s)
{
    return &s->sink;
}

const struct sim_stats *sim_naive_stats(const struct sim_naive *s)
{
    return s->stats;
}

void sim_naive_clear_stats(struct sim_naive *s)
{
    for (size_t i = 0; i < SIM_MAX_TAGS / SIM_USUAL_TAGS; i++)
        s->stats[i] = (struct sim_stats){ .n_levels = s->n_levels };
}

void sim_naive_clear(struct sim_naive *s)
{
    for (size_t k = 0; k < s->n_levels; k++) {
        struct naive_level *l = &s->level[k];

        naive_policy_init(&l->policy, &l->shape);
        for (uint64_t set = 0; set < l->shape.n_sets; set++)
            naive_policy_empty(&l->policy, l->way + set * l->shape.n_ways);
        l->shadow.n_held = l->shadow.n_seen = 0;
        memset(l->prefetcher, 0, sizeof l->prefetcher);
        for (size_t i = 0; i < SIM_MAX_PREFETCHERS; i++)
            l->prefetcher[i].p = naive_prefetch_in_full(l->shape.prefetch[i]);
        l->leaving.is_valid = false;
    }
    for (size_t i = 0; i < s->m.n_tlbs; i++)
        memset(s->tlb[i].page, 0, s->m.tlb[i].n_entries * sizeof *s->tlb[i].page);
    s->n_queue = s->n_buffers = 0;
    s->now = s->n_read = 0;
    sim_naive_clear_stats(s);
}

/* Returns the dirty line of a set to be written back next, or NULL. */
static struct naive_way *next_dirty(struct naive_way *set, const struct sim_level *l)
{
    bool is_lru = !strcmp(l->policy, "lru");
    struct naive_way *next = NULL;

    for (uint32_t w = 0; w < l->n_ways; w++) {
        if (set[w].is_valid && set[w].is_dirty && (!next || (is_lru && set[w].last_use < next->last_use)))
            next = &set[w];
    }
    return next;
}

void sim_naive_flush(struct sim_naive *s, unsigned phase)
{
    while (s->n_buffers)
        empty_buffer(s, 0, phase);
    for (size_t k = 0; k < s->n_levels; k++) {
        uint64_t line_bytes = s->level[k].shape.line_bytes;
        size_t to = k + 1;

        while (naive_is_exclusive(s, to))
            to++;
        for (uint64_t set = 0; set < s->level[k].shape.n_sets; set++) {
            struct naive_way *w;

            while ((w = next_dirty(s->level[k].way + set * s->level[k].shape.n_ways, &s->level[k].shape))) {
                unsigned owner = w->owner;

                w->is_dirty = false;
                naive_counts(s, k, owner, phase)->write_backs++;
                naive_write_data(s, to, (struct naive_data){ w->line * line_bytes, line_bytes, false, false }, owner,
                                 phase);
            }
        }
    }
    bring_what_is_queued(s);
}

static bool none_missing(const struct sim_naive *s, size_t outer, size_t inner, bool should_be_there)
{
    const struct naive_level *l = &s->level[inner];

    for (uint64_t i = 0; i < l->shape.n_sets * l->shape.n_ways; i++) {
        bool is_there = l->way[i].is_valid && naive_find((struct sim_naive *)s, outer, l->way[i].line);

        if (l->way[i].is_valid && is_there != should_be_there)
            return false;
    }
    return true;
}

void sim_naive_swap_last(struct sim_naive *a, struct sim_naive *b)
{
    struct naive_level held = a->level[a->n_levels - 1];

    a->level[a->n_levels - 1] = b->level[b->n_levels - 1];
    b->level[b->n_levels - 1] = held;
}

bool sim_naive_includes(const struct sim_naive *s, size_t outer, size_t inner)
{
    return none_missing(s, outer, inner, true);
}

bool sim_naive_excludes(const struct sim_naive *s, size_t outer, size_t inner)
{
    return none_missing(s, outer, inner, false);
}
