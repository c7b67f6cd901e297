/*
 * The hot part of the full engine, a template: an instruction set's file includes it and fills in a variant from it.
 * Bursts on their way: through bursts_tmpl.h if their accesses do nothing that it does not know, else access by access.
 */
#include <assert.h>

#include "sim/full/engine_full.h"

#include "sim/full/engine_full_prefetch_tmpl.h"
#include "sim/full/engine_full_path_tmpl.h"
#include "sim/full/engine_full_combine_tmpl.h"
#include "sim/full/engine_full_access_tmpl.h"

/* Returns what the machine makes of a kind. */
static inline unsigned kind_of(const struct sim_full *e, unsigned kind)
{
    return kind == SIM_STORE_NT && !e->machine.combining_buffers ? SIM_STORE : kind;
}

/* ---- what bursts_tmpl.h needs ---- */

#define ENGINE struct sim_full
#define ADDRESS_MASK SIM_FULL_ADDRESS_MASK

enum { MERGES_LINES = 0, HAS_QUIET = 0 };

struct toucher {
    struct sim_full_request request;
    uint8_t kind;
    uint16_t dirt; /* flags that a store leaves */
};

static inline void init_toucher(struct toucher *who, struct sim_full *e, unsigned kind, unsigned tag, unsigned phase,
                                unsigned place)
{
    sim_full_request_by(&who->request, e, tag, phase, place);
    who->kind = (uint8_t)kind_of(e, kind);
    who->dirt = who->kind == SIM_STORE ? (uint16_t)(SIM_FULL_DIRTY | tag) : 0;
}

/*
 * A line that is there and is not used for the first time since it was prefetched. Returns whether it still is as it
 * was left, so that the same once more would say nothing new: prefetchers brought nothing.
 */
static inline bool touch_hit(struct sim_full *e, struct toucher *who, uint64_t line, struct sim_full_place p)
{
    struct sim_full_level *l = &e->level[0];
    uint16_t *flags = sim_full_level_flags(l, p);

    if (who->kind != SIM_PREFETCH) {
        unsigned found = heeders(e, line, &who->request);

        e->n_requests++;
        classify(e, 0, line, SIM_SHADOW_KEEP, false, &who->request);
        if (found)
            e->n_changes += !watch(e, 0, line, found, true, &who->request);
    }
    sim_full_level_touch(l, p);
    e->n_changes += !e->hits_repeat;
    if (who->dirt)
        *flags = (uint16_t)((*flags & ~SIM_FULL_OWNER) | who->dirt);
    return e->queue_first == e->queue_end || !run_queue(e);
}

/* Any other line. */
static __attribute__((noinline)) void touch_other(struct sim_full *e, struct toucher *who, uint64_t line,
                                                  struct sim_full_place p)
{
    e->n_changes++;
    access_found(e, who->kind, line << e->bursts.line_shift, 1, p, &who->request);
}

/* Tells whether an access finds its line like one that is neither a miss nor the first use of a prefetched line. */
static inline bool is_usual(struct sim_full *e, const struct toucher *who, struct sim_full_place p)
{
    return sim_full_is_hit(p) &&
           (who->kind == SIM_PREFETCH || !(*sim_full_level_flags(&e->level[0], p) & SIM_FULL_PREFETCHED));
}

/* Returns whether the same access once more would change nothing at all. */
static inline bool touch(struct sim_full *e, struct toucher *who, uint64_t line)
{
    struct sim_full_place p = sim_full_level_find(&e->level[0], line);

    if (is_usual(e, who, p))
        return touch_hit(e, who, line, p);
    touch_other(e, who, line, p);
    return false;
}

/* Does what comes before an access's lines: their pages, and buffered units. Returns how many pages. */
static inline uint64_t prepare(struct sim_full *e, const struct toucher *who, uint64_t first, uint64_t n)
{
    const uint64_t mask = ADDRESS_MASK >> e->bursts.line_shift;
    unsigned page_lines_shift = e->page_shift - e->bursts.line_shift;
    uint64_t n_pages = 0;

    for (uint64_t i = 0, before = 0; i < n && e->machine.n_tlbs; i++) {
        uint64_t page = ((first + i) & mask) >> page_lines_shift;

        if (!i || page != before) {
            look_up(e, page, &who->request);
            n_pages++;
        }
        before = page;
    }
    for (uint64_t i = 0; i < n && e->n_buffers; i++)
        drain_unit(e, ((first + i) & mask) >> (e->unit_shift - e->bursts.line_shift), &who->request);
    return n_pages;
}

static inline void touch_times(struct sim_full *e, struct toucher *who, uint64_t line, uint32_t n)
{
    prepare(e, who, line, 1);
    for (bool is_settled = false; n && !is_settled; n--) {
        is_settled = touch(e, who, line);
        if (who->kind == SIM_LOAD && who->request.source)
            count_load_misses(&who->request);
    }
    e->n_requests += who->kind != SIM_PREFETCH ? n : 0;
}

static inline void touch_line(struct sim_full *e, struct toucher *who, uint64_t line)
{
    touch_times(e, who, line, 1);
}

/* The first page of an access is counted elsewhere; others would not be in repetitions that are multiplied. */
static void touch_lines(struct sim_full *e, struct toucher *who, uint64_t first, uint64_t n)
{
    uint64_t n_pages = prepare(e, who, first, n);

    if (n_pages > 1) {
        who->request.cell->tlb[0].uses += n_pages - 1;
        e->n_changes++;
    }
    for (uint64_t i = 0; i < n; i++)
        touch(e, who, (first + i) & ADDRESS_MASK >> e->bursts.line_shift);
    if (who->kind == SIM_LOAD)
        count_load_misses(&who->request);
}

static inline void count_touches(const struct toucher *who, uint64_t n)
{
    struct sim_level_counts *c = &who->request.cell->level[0];

    c->reads += who->kind == SIM_LOAD ? n : 0;
    c->writes += who->kind == SIM_STORE ? n : 0;
}

static inline bool is_ignored(const struct sim_full *e, unsigned kind)
{
    return kind == SIM_PREFETCH && !e->machine.has_software_prefetch;
}

static inline uint64_t changes(const struct sim_full *e)
{
    return e->n_changes;
}

static inline bool has_settled(const struct sim_full *e, uint64_t since, uint64_t n_touches)
{
    (void)n_touches;
    return changes(e) == since;
}

static inline void pass_over(struct sim_full *e, const struct toucher *who, uint64_t n)
{
    e->n_requests += who->kind != SIM_PREFETCH ? n : 0;
}

static inline bool is_in_front(const struct sim_full *e, const struct toucher *who, uint64_t line)
{
    (void)e, (void)who, (void)line;
    return false;
}

#include "sim/engine/bursts_tmpl.h"

/* ---- bursts ---- */

/* Tells whether bursts_tmpl.h knows what accesses of a run do. */
static bool can_walk(const struct sim_full *e, const struct sim_run *r)
{
    unsigned kind = kind_of(e, r->kind);

    return kind == SIM_STORE ? e->walks_stores : kind != SIM_STORE_NT && e->walks_loads;
}

/* Counts the first page of each access of a run. */
static inline void count_first_pages(struct sim_full *e, const struct sim_run *r, uint64_t n_times)
{
    if (e->machine.n_tlbs && !is_ignored(e, r->kind))
        sim_hierarchy_cell(&e->base, r->tag, r->phase)->tlb[0].uses += r->count * n_times;
}

/* Makes the one access of a run if it can. */
static inline bool walk_lone(struct sim_full *e, const struct sim_run *run)
{
    if (!can_walk(e, run))
        return false;
    count_first_pages(e, run, 1);
    e->bursts.paths.lone_accesses++;
    take_access(e, run);
    return true;
}

/* Walks a burst if it can. */
static bool walk_burst(struct sim_full *e, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    if (n_runs == 1 && n_times == 1 && run->count == 1)
        return walk_lone(e, run);
    for (const struct sim_run *r = run; r < run + n_runs; r++) {
        if (!can_walk(e, r))
            return false;
    }
    for (const struct sim_run *r = run; r < run + n_runs; r++)
        count_first_pages(e, r, n_times);
    take_burst(e, run, n_runs, n_times);
    return true;
}

/* One repetition of one run. */
static void make_run(struct sim_full *e, const struct sim_run *r, unsigned place, uint64_t addr)
{
    sim_count_accesses(sim_hierarchy_cell(&e->base, r->tag, r->phase), r->kind, r->count,
                       (uint64_t)r->count * r->access_bytes);
    if (is_ignored(e, r->kind))
        return;
    for (uint32_t i = 0; i < r->count; i++, addr += (uint64_t)r->stride_bytes)
        make_access(e, r, kind_of(e, r->kind), addr, place);
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sim_full *e = (struct sim_full *)self;

    assert(n_runs <= SIM_MAX_BURST_RUNS);
    for (const struct sim_run *r = run; r < run + n_runs; r++)
        assert(r->access_bytes && r->kind < SIM_N_KINDS && r->tag < e->base.n_tags && r->phase < SIM_MAX_PHASES);
    if (!n_times || walk_burst(e, run, n_runs, n_times))
        return;
    for (uint64_t t = 0; t < n_times; t++) {
        for (size_t i = 0; i < n_runs; i++)
            make_run(e, &run[i], (unsigned)i, run[i].addr + t * (uint64_t)run[i].step_bytes);
    }
}

#include "sim/full/engine_full_records_tmpl.h"

/* ---- flushing ---- */

static void flush_level(struct sim_full *e, size_t k, unsigned phase)
{
    struct sim_full_level *l = &e->level[k];
    size_t to = k + 1;

    while (to < e->n_levels && e->level[to].is_exclusive)
        to++;
    for (uint64_t set = 0; set < l->shape->n_sets; set++) {
        for (struct sim_full_place p = { .row = sim_full_level_row(l, set) }; sim_full_level_next_dirty(l, &p);) {
            uint16_t flags = *sim_full_level_flags(l, p);

            *sim_full_level_flags(l, p) = flags & (uint16_t)~SIM_FULL_DATA;
            write_back(e, k, to, *sim_full_level_line(p), flags, phase);
        }
    }
}

static void flush(struct sim_hierarchy *h, unsigned phase)
{
    struct sim_full *e = (struct sim_full *)h;

    drain(e, phase);
    for (size_t k = 0; k < e->n_levels; k++)
        flush_level(e, k, phase);
    run_queue(e);
}
