/*
 * The hot part of the full engine: a template that each instruction set's file includes and puts into a variant. Bursts
 * go through bursts_tmpl.h if the template knows all effects of their accesses, else access by access.
 */
#include <assert.h>

#include "sim/full/engine_full.h"

/* Marks functions with a copy for each constant level number, and a copy for variable level numbers. */
#define EACH_LEVEL __attribute__((always_inline))

#include "sim/full/engine_full_prefetch_tmpl.h"
#include "sim/full/engine_full_path_tmpl.h"
#include "sim/full/engine_full_combine_tmpl.h"
#include "sim/full/engine_full_access_tmpl.h"
#include "sim/full/engine_full_relay_tmpl.h"

/* Returns the machine's view of a kind. */
static inline unsigned kind_of(const struct sim_full *e, unsigned kind)
{
    return kind == SIM_STORE_NT && !e->machine.combining_buffers ? SIM_STORE : kind;
}

/* ---- the back-end of bursts_tmpl.h ---- */

#define ENGINE struct sim_full
#define ADDRESS_MASK SIM_FULL_ADDRESS_MASK

enum { MERGES_LINES = 0, HAS_QUIET = 0, SETTLES_AHEAD = 4, LEAST_CLASSIFIED = 64 };

struct toucher {
    struct sim_full_request request;
    uint8_t kind;
    uint8_t lone_seer;                   /* kind of the only prefetcher that sees hits, or 0 */
    bool is_classified;                  /* hits are shown to the first level's shadow */
    uint16_t dirt;                       /* the flags after a store */
    struct sim_full_asker *const *seers; /* prefetchers of the first level for hits; NULL last */
    struct sim_full_place place;         /* where a line was found last */
};

static inline void init_toucher(struct toucher *who, struct sim_full *e, unsigned kind, unsigned tag, unsigned phase,
                                unsigned place)
{
    sim_full_request_by(&who->request, e, tag, phase, place);
    who->kind = (uint8_t)kind_of(e, kind);
    who->place = (struct sim_full_place){ e->level[0].rows, 0 };
    who->dirt = who->kind == SIM_STORE ? (uint16_t)(SIM_FULL_DIRTY | tag) : 0;
    who->seers = e->level[0].seer[SIM_FULL_SEEN_HIT];
    who->lone_seer = who->kind == SIM_PREFETCH ? 0 : e->lone_seer;
    who->is_classified = who->kind != SIM_PREFETCH && e->level[0].is_classified;
}

/* Marks the flags of a present line after a store. */
static inline void mark(struct sim_full *e, const struct toucher *who, struct sim_full_place p)
{
    uint16_t *flags = sim_full_level_flags(&e->level[0], p);

    if (who->dirt)
        *flags = (uint16_t)((*flags & ~SIM_FULL_OWNER) | who->dirt);
}

/* Lets a hit's line be used: by the policy, and by a store. */
static inline void touch_found(struct sim_full *e, const struct toucher *who, struct sim_full_place p)
{
    sim_full_level_touch(&e->level[0], p);
    mark(e, who, p);
}

/*
 * A hit that is no first use of a prefetched line. Returns whether an equal access would have no new effect:
 * prefetchers brought nothing, and prefetchers that ask again at each hit asked for nothing.
 */
static inline bool touch_hit(struct sim_full *e, struct toucher *who, uint64_t line, struct sim_full_place p)
{
    bool passes = true;

    if (who->kind != SIM_PREFETCH) {
        e->n_requests++;
        classify(e, 0, line, SIM_SHADOW_KEEP, false, &who->request);
        passes = watch_hit(e, line, &who->request);
        e->n_changes += !passes;
    }
    touch_found(e, who, p);
    e->n_changes += !e->hits_repeat;
    return !run_queue(e) && (passes || e->remembers_hits);
}

/* The first use of a prefetched line. */
static inline void touch_first(struct sim_full *e, struct toucher *who, uint64_t line, struct sim_full_place p)
{
    e->n_changes++;
    e->n_requests++;
    classify(e, 0, line, SIM_SHADOW_KEEP, false, &who->request);
    watch(e, 0, line, e->level[0].seer[SIM_FULL_SEEN_FIRST_USE], true, &who->request);
    if (who->kind == SIM_LOAD)
        load_first(e, line, &who->request);
    note_useful(e, 0, p, &who->request);
    touch_found(e, who, p);
    run_queue(e);
}

static __attribute__((noinline)) void touch_missing(struct sim_full *e, struct toucher *who, uint64_t line,
                                                    struct sim_full_place p)
{
    e->n_changes++;
    access_found(e, who->kind, line << e->bursts.line_shift, 1, p, &who->request);
}

static inline bool is_first_use(const struct sim_full *e, const struct toucher *who, struct sim_full_place p)
{
    return who->kind != SIM_PREFETCH && *sim_full_level_flags(&e->level[0], p) & SIM_FULL_PREFETCHED;
}

/* Returns whether an equal access would change nothing at all. */
static inline bool touch_place(struct sim_full *e, struct toucher *who, uint64_t line, struct sim_full_place p)
{
    if (sim_full_is_hit(p) && !is_first_use(e, who, p))
        return touch_hit(e, who, line, p);
    if (sim_full_is_hit(p))
        touch_first(e, who, line, p);
    else
        touch_missing(e, who, line, p);
    return false;
}

static inline bool touch(struct sim_full *e, struct toucher *who, uint64_t line)
{
    return touch_place(e, who, line, sim_full_level_find(&e->level[0], line));
}

/* Finishes the pages and buffered units before an access's lines. Returns the number of pages. */
static inline uint64_t use_pages_of(struct sim_full *e, const struct toucher *who, uint64_t first, uint64_t n)
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

/* Makes any n accesses to a line, after pages and buffers. */
static __attribute__((noinline)) void touch_again(struct sim_full *e, struct toucher *who, uint64_t line, uint32_t n)
{
    for (bool is_settled = false; n && !is_settled; n--) {
        is_settled = touch(e, who, line);
        if (who->kind == SIM_LOAD && who->request.source)
            count_load_misses(e, &who->request);
    }
    e->n_requests += who->kind != SIM_PREFETCH ? n : 0;
}

static __attribute__((noinline)) void touch_any(struct sim_full *e, struct toucher *who, uint64_t line, uint32_t n)
{
    use_pages_of(e, who, line, 1);
    touch_again(e, who, line, n);
}

static void touch_times(struct sim_full *e, struct toucher *who, uint64_t line, uint32_t n);

/* Makes n accesses to an absent line. */
static __attribute__((noinline)) void touch_missing_times(struct sim_full *e, struct toucher *who, uint64_t line,
                                                          uint32_t n, struct sim_full_place p)
{
    touch_missing(e, who, line, p);
    if (who->kind == SIM_LOAD && who->request.source)
        count_load_misses(e, &who->request);
    p = sim_full_level_find_small(&e->level[0], line);
    if (sim_full_is_hit(p))
        who->place = p;
    if (--n)
        touch_times(e, who, line, n);
}

/*
 * Makes n more accesses to the line accessed last. They change nothing if, after all prefetches, the line is the last
 * that its set would give up, and each prefetcher for hits remembers the line.
 */
static inline void touch_more(struct sim_full *e, struct toucher *who, uint64_t line, uint32_t n)
{
    const struct sim_full_place p = who->place;

    if (e->remembers_hits && *sim_full_level_line(p) == line && sim_full_level_is_last(&e->level[0], p))
        e->n_requests += n;
    else if (n)
        touch_times(e, who, line, n);
}

/* Makes accesses to a used line in front of its set, with prefetchers that see the hits. */
static __attribute__((noinline)) void touch_asking(struct sim_full *e, struct toucher *who, uint64_t line, uint32_t n,
                                                   struct sim_full_asker *const *left)
{
    const enum ahead ahead = ahead_of(e, true);
    bool passes = true;

    e->n_requests++;
    for (; *left; left++)
        passes &= ask(e, *left, line, ahead, &who->request);
    e->n_changes += !passes;
    run_queue(e);
    touch_more(e, who, line, n - 1);
}

static __attribute__((noinline)) void touch_first_time(struct sim_full *e, struct toucher *who, uint64_t line,
                                                       uint32_t n, struct sim_full_place p)
{
    touch_first(e, who, line, p);
    touch_more(e, who, line, n - 1);
}

/* Uses the page of a line if the first TLB has the page where the hint says. Returns whether the TLB has. */
static inline bool has_page(struct sim_full *e, uint64_t line)
{
    const uint64_t page = line >> e->page_lines_shift;

    if (page == e->last_page)
        return true;
    if (!sim_full_tlb_use_known(&e->tlb[0], page))
        return false;
    e->last_page = page;
    return true;
}

/*
 * Shows n hits to the prefetchers of the first level, beginning with the first prefetcher that does more than note a
 * repeated line.
 */
static inline void show_hits(struct sim_full *e, struct toucher *who, uint64_t line, uint32_t n)
{
    struct sim_full_asker *const *left = who->seers;

    while (*left && is_seen_again(*left, line, &who->request))
        left++;
    if (*left)
        touch_asking(e, who, line, n, left);
    else
        e->n_requests += n;
}

/* Brings an absent line that a prefetcher asks for at the first of n hits of another line. */
static __attribute__((noinline)) void touch_wanting(struct sim_full *e, struct toucher *who, uint64_t line, uint32_t n,
                                                    uint64_t wanted, uint64_t *row)
{
    e->n_requests++;
    queue_up(e, *who->seers, wanted, row, &who->request);
    run_queue(e);
    touch_more(e, who, line, n - 1);
}

/* Does the same for several noted lines, some perhaps present. */
static __attribute__((noinline)) void touch_wanting_several(struct sim_full *e, struct toucher *who, uint64_t line,
                                                            uint32_t n)
{
    e->n_requests++;
    want_several(e, *who->seers, line, LOOKED_FOR_HIT, &who->request);
    run_queue(e);
    touch_more(e, who, line, n - 1);
}

/*
 * Makes n accesses to a used line, where only one prefetcher sees hits. The prefetcher's requests are mostly present
 * already, so nothing happens.
 */
static inline __attribute__((always_inline)) void touch_seen(struct sim_full *e, struct toucher *who, uint64_t line,
                                                             uint32_t n, struct sim_full_place p, unsigned kind)
{
    struct sim_full_asker *a = *who->seers;
    struct sim_prefetch_entry *known;
    struct sim_prefetch_lines asked;

    sim_full_level_touch_small(&e->level[0], p);
    known = sim_prefetch_known_entry(&a->state, key_of(a, line, &who->request));
    if (!known) {
        touch_asking(e, who, line, n, who->seers);
        return;
    }
    if (known->last != (int64_t)line) {
        e->n_changes++;
        asked = kind == SIM_PREFETCH_STRIDE ? sim_prefetch_stride_learn(known, &a->p, (int64_t)line)
                                            : sim_prefetch_stream_learn(known, &a->p, (int64_t)line);
        if (asked.which > 1) {
            note_asked(e, asked);
            touch_wanting_several(e, who, line, n);
            return;
        }
        asked.first &= (int64_t)a->mask;
        if (asked.which && !(((uint64_t)asked.first ^ line) >> a->stay_shift)) {
            a->counts->asked++;
            p = sim_full_level_find_small(&e->level[0], (uint64_t)asked.first);
            if (!sim_full_is_hit(p)) {
                touch_wanting(e, who, line, n, (uint64_t)asked.first, p.row);
                return;
            }
        }
    }
    e->n_requests += n;
}

static __attribute__((noinline)) void touch_seen_by_stride(struct sim_full *e, struct toucher *who, uint64_t line,
                                                           uint32_t n, struct sim_full_place p)
{
    touch_seen(e, who, line, n, p, SIM_PREFETCH_STRIDE);
}

static __attribute__((noinline)) void touch_seen_by_stream(struct sim_full *e, struct toucher *who, uint64_t line,
                                                           uint32_t n, struct sim_full_place p)
{
    touch_seen(e, who, line, n, p, SIM_PREFETCH_STREAM);
}

/* Makes n accesses to a used line. The use precedes the prefetchers, to no effect on them. */
static __attribute__((noinline)) void touch_used(struct sim_full *e, struct toucher *who, uint64_t line, uint32_t n,
                                                 struct sim_full_place p)
{
    if (who->lone_seer == SIM_PREFETCH_STRIDE) {
        touch_seen_by_stride(e, who, line, n, p);
        return;
    }
    if (who->lone_seer == SIM_PREFETCH_STREAM) {
        touch_seen_by_stream(e, who, line, n, p);
        return;
    }
    sim_full_level_touch_small(&e->level[0], p);
    if (who->kind != SIM_PREFETCH)
        show_hits(e, who, line, n);
}

/* Does the same if the first level's shadow does not hold the line, or does not remember the line's place. */
static __attribute__((noinline)) void touch_classified_any(struct sim_full *e, struct toucher *who, uint64_t line,
                                                           uint32_t n)
{
    classify(e, 0, line, SIM_SHADOW_KEEP, false, &who->request);
    touch_used(e, who, line, n, who->place);
}

/* Does the same with the shadow. The place is in the toucher, so that few registers suffice. */
static __attribute__((noinline)) void touch_classified(struct sim_full *e, struct toucher *who, uint64_t line,
                                                       uint32_t n)
{
    if (sim_shadow_use_again(e->level[0].shadow, line))
        touch_used(e, who, line, n, who->place);
    else
        touch_classified_any(e, who, line, n);
}

/*
 * Makes n accesses to a line. The usual case is handled here, in few registers, so that none is saved; all further
 * cases are left to functions that are called last.
 */
static __attribute__((noinline)) void touch_times(struct sim_full *e, struct toucher *who, uint64_t line, uint32_t n)
{
    struct sim_full_level *l = &e->level[0];
    struct sim_full_place p;

    if (!e->is_usual || (e->machine.n_tlbs && !has_page(e, line))) {
        touch_any(e, who, line, n);
        return;
    }
    p = sim_full_level_find_small(l, line);
    if (!sim_full_is_hit(p)) {
        touch_missing_times(e, who, line, n, p);
        return;
    }
    who->place = p;
    if (is_first_use(e, who, p)) {
        touch_first_time(e, who, line, n, p);
    } else {
        mark(e, who, p);
        if (who->is_classified)
            touch_classified(e, who, line, n);
        else
            touch_used(e, who, line, n, p);
    }
}

static inline void touch_line(struct sim_full *e, struct toucher *who, uint64_t line)
{
    touch_times(e, who, line, 1);
}

/*
 * The caller counts the first page of an access. Further pages would be lost in multiplied repetitions, so they count
 * as changes.
 */
static void touch_lines(struct sim_full *e, struct toucher *who, uint64_t first, uint64_t n)
{
    uint64_t n_pages = use_pages_of(e, who, first, n);

    if (n_pages > 1) {
        who->request.cell->tlb[0].uses += n_pages - 1;
        e->n_changes++;
    }
    for (uint64_t i = 0; i < n; i++)
        touch(e, who, (first + i) & ADDRESS_MASK >> e->bursts.line_shift);
    if (who->kind == SIM_LOAD)
        count_load_misses(e, &who->request);
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

/*
 * Tells whether an equal access would change nothing: the line, at the place of the run's last line, is the last that
 * its set would give up, and is dirty if the access stores, because the line may have left and come back; the line's
 * page is in the first TLB; and each prefetcher for hits remembers the line as its entry's last. All further state,
 * such as the order of uses of pages and entries, is left again by equal accesses in equal order.
 */
static __attribute__((noinline)) bool is_in_front(const struct sim_full *e, const struct toucher *who, uint64_t line)
{
    const struct sim_full_level *l = &e->level[0];
    const struct sim_full_place p = who->place;
    struct sim_full_asker *const *left = who->seers;

    if (*sim_full_level_line(p) != line || !sim_full_level_is_last(l, p) || is_first_use(e, who, p) ||
        (who->dirt && !(*sim_full_level_flags(l, p) & SIM_FULL_DIRTY)))
        return false;
    if (e->machine.n_tlbs && !sim_full_tlb_is_known(&e->tlb[0], line >> e->page_lines_shift))
        return false;
    for (; who->kind != SIM_PREFETCH && *left; left++) {
        if (!remembers(*left, line, &who->request))
            return false;
    }
    return true;
}

/*
 * Tells whether is_in_front() of all n_touches lines of a repetition predicts the effect of an equal repetition. A
 * shadow so small that page walks push the lines out would have to be asked, too.
 */
static inline bool can_settle_ahead(const struct sim_full *e, uint64_t n_touches)
{
    const struct sim_full_level *l = &e->level[0];

    return e->is_usual && e->remembers_hits && n_touches <= SETTLES_AHEAD &&
           (!l->is_classified || l->shape->n_sets * l->n_ways >= LEAST_CLASSIFIED);
}

#include "sim/engine/bursts_tmpl.h"

/* ---- bursts ---- */

/* Tells whether bursts_tmpl.h knows the effects of a run's accesses. */
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

/* Makes the access of a run of length 1 if bursts_tmpl.h can. */
static inline bool walk_lone(struct sim_full *e, const struct sim_run *run)
{
    if (!can_walk(e, run))
        return false;
    count_first_pages(e, run, 1);
    e->bursts.paths.lone_accesses++;
    take_access(e, run);
    return true;
}

/* Walks a burst if bursts_tmpl.h can. */
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

/* Makes a repetition of a run. */
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
#include "sim/full/engine_full_touch_tmpl.h"

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
    if (!e->leader)
        flush_level(e, 0, phase);
    sim_full_hand_over(e);
    for (size_t k = 1; k < e->n_levels; k++)
        flush_level(e, k, phase);
    run_queue(e);
    for (struct sim_full *f = e->follower; f; f = f->next)
        flush(&f->base, phase);
}
