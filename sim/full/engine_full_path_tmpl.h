/*
 * A request on its way out through the full engine's levels, with all its counts. Part of engine_full_tmpl.h.
 *
 * A request may cause a fetch further out, a write that passes on, and a victim. Meanwhile only levels further out
 * change, and levels inside only lose lines. Prefetches would break this rule, so they wait in a queue until the access
 * is finished. So at most one victim per level is on its way out at a time (`leaving`), and an inclusive level never
 * evicts the line just brought in: an inclusive level evicts only when the level fills, and fills only lines that no
 * level inside had before the request.
 */
#include <assert.h>

struct write {
    uint64_t addr;
    uint64_t bytes;
    bool is_store;    /* of the core, not a write-back */
    bool is_eviction; /* straight from the level inside */
};

/* Shows a request to level k's shadow, if there is a shadow; counts the class of a miss. */
static inline EACH_LEVEL void classify(struct sim_full *e, size_t k, uint64_t line, enum sim_shadow_use how,
                                       bool is_miss, const struct sim_full_request *r)
{
    struct sim_level_counts *c = &r->cell->level[k];
    int found;

    if (!e->level[k].is_classified)
        return;
    found = sim_shadow_use(e->level[k].shadow, line, how);
    e->n_changes += found != SIM_SHADOW_HIT;
    if (found < 0)
        e->base.err = found;
    else if (is_miss)
        *(found == SIM_SHADOW_NEW    ? &c->compulsory_misses
          : found == SIM_SHADOW_LOST ? &c->capacity_misses
                                     : &c->conflict_misses) += 1;
}

/* Returns the counts of the prefetcher of level k that brought a line. The line is not used yet. */
static inline struct sim_prefetch_counts *brought_by(struct sim_full *e, size_t k, unsigned flags)
{
    return &e->base.stats->prefetcher[k][((flags & SIM_FULL_PREFETCHED) >> SIM_FULL_PLACE_AT) - 1];
}

/* Counts a prefetched line leaving level k unused. */
static void note_unused(struct sim_full *e, size_t k, uint16_t flags, unsigned phase)
{
    if (!(flags & SIM_FULL_PREFETCHED))
        return;
    sim_hierarchy_cell(&e->base, flags >> SIM_FULL_ASKER_SHIFT, phase)->level[k].useless_prefetches++;
    brought_by(e, k, flags)->useless++;
}

/* Counts the first use of a prefetched line. */
static inline void note_useful(struct sim_full *e, size_t k, struct sim_full_place p, const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    uint16_t *flags = sim_full_level_flags(l, p);
    const unsigned asker = *flags >> SIM_FULL_ASKER_SHIFT;
    struct sim_cell *cell = asker == r->tag ? r->cell : sim_hierarchy_cell(&e->base, asker, r->phase);
    const bool is_late = l->is_late && !r->is_prefetch && *sim_full_level_due(l, p) > e->n_requests;
    struct sim_prefetch_counts *by = brought_by(e, k, *flags);

    cell->level[k].useful_prefetches++;
    cell->level[k].late_prefetches += is_late;
    by->useful++;
    by->late += is_late;
    *flags &= SIM_FULL_DATA;
}

/* A read or write found the line. */
static inline EACH_LEVEL void use(struct sim_full *e, size_t k, struct sim_full_place p,
                                  const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];

    if (*sim_full_level_flags(l, p) & SIM_FULL_PREFETCHED)
        note_useful(e, k, p, r);
    sim_full_level_touch(l, p);
}

/*
 * Shows a request to the prefetchers of level k that see the kind of request. Prefetchers of the first level see no
 * page walks.
 */
static inline EACH_LEVEL void show(struct sim_full *e, size_t k, uint64_t line, struct sim_full_place p,
                                   const struct sim_full_request *r)
{
    const struct sim_full_level *l = &e->level[k];
    enum sim_full_sight sight = SIM_FULL_SEEN_HIT;

    if (!sim_full_is_hit(p))
        sight = r->is_prefetch ? SIM_FULL_SEEN_AHEAD : SIM_FULL_SEEN_MISS;
    else if (*sim_full_level_flags(l, p) & SIM_FULL_PREFETCHED)
        sight = SIM_FULL_SEEN_FIRST_USE;
    if (*l->seer[sight] && !(r->is_walk && !k))
        watch(e, k, line, l->seer[sight], sim_full_is_hit(p), r);
}

/* Removes a present line from level k and returns its flags. */
static uint16_t take_out(struct sim_full *e, size_t k, struct sim_full_place p, unsigned phase)
{
    uint16_t flags = sim_full_level_remove(&e->level[k], p);

    note_unused(e, k, flags, phase);
    return flags;
}

/* Drops a line from level k, even a line on its way out. Returns whether the line was present, with its flags. */
static bool drop(struct sim_full *e, size_t k, uint64_t line, unsigned phase, uint16_t *flags)
{
    struct sim_full_level *l = &e->level[k];
    struct sim_full_place p = sim_full_level_find(l, line);

    if (sim_full_is_hit(p)) {
        *flags = take_out(e, k, p, phase);
        return true;
    }
    if (l->leaving != line)
        return false;
    *flags = l->leaving_flags;
    l->leaving = SIM_FULL_NO_LINE;
    return true;
}

/* Drops the lines covered by level k's victim from all levels inside k; the victim's flags take up dirty copies. */
static void back_invalidate(struct sim_full *e, size_t k, const struct sim_full_request *r)
{
    const struct sim_full_level *l = &e->level[k];
    uint64_t addr = l->leaving << l->line_shift;

    for (size_t j = k; j-- > 0;) {
        unsigned shift = e->level[j].line_shift;

        for (uint64_t line = addr >> shift; line <= (addr + l->line_bytes - 1) >> shift; line++) {
            uint16_t flags;

            if (!drop(e, j, line, r->phase, &flags))
                continue;
            r->cell->level[j].back_invalidations++;
            if (flags & SIM_FULL_DIRTY)
                e->level[k].leaving_flags = flags & SIM_FULL_DATA;
        }
    }
}

/* Puts an absent line into a row of level k, clean, and returns its way; a replaced line is then leaving. */
static inline EACH_LEVEL int32_t put(struct sim_full *e, size_t k, uint64_t line, uint64_t *row,
                                     const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    int32_t way = sim_full_level_insert(l, line, row);

    r->cell->level[k].lines_in++;
    if (l->leaving == SIM_FULL_NO_LINE)
        return way;
    note_unused(e, k, l->leaving_flags, r->phase);
    l->leaving_flags &= SIM_FULL_DATA;
    if (l->is_inclusive)
        back_invalidate(e, k, r);
    return way;
}

/* ---- requests on their way out ---- */

static uint16_t read_line(struct sim_full *e, size_t k, uint64_t line, struct sim_full_request *r);
static uint16_t read_second(struct sim_full *e, uint64_t line, struct sim_full_request *r);
static uint16_t read_third(struct sim_full *e, uint64_t line, struct sim_full_request *r);
static uint16_t fetch_lines(struct sim_full *e, size_t k, uint64_t addr, uint32_t bytes, struct sim_full_request *r);
static void write_range(struct sim_full *e, size_t k, const struct write *w, unsigned tag, unsigned phase);
static void write_like(struct sim_full *e, size_t k, const struct write *w, unsigned tag, unsigned phase);
static void send_leaving(struct sim_full *e, size_t k, struct sim_full_request *r);

/* Sends the victim of put() at level k onwards, if there is a victim. */
static inline void send_victim(struct sim_full *e, size_t k, struct sim_full_request *r)
{
    if (e->level[k].leaving != SIM_FULL_NO_LINE)
        send_leaving(e, k, r);
}

/* Reads the bytes of a line of level k - 1 from level k. */
static inline EACH_LEVEL uint16_t fetch(struct sim_full *e, size_t k, uint64_t addr, uint32_t bytes,
                                        struct sim_full_request *r)
{
    const uint64_t line = addr >> e->level[k - 1].line_shift;

    if (!e->level[k - 1].is_like_next)
        return fetch_lines(e, k, addr, bytes, r);
    if (k == 1)
        return read_second(e, line, r);
    return k == 2 ? read_third(e, line, r) : read_line(e, k, line, r);
}

/* A level took a line without a read: exclusive levels just outside lose the line. */
static void claim(struct sim_full *e, size_t k, uint64_t addr, unsigned phase)
{
    for (; k < e->n_levels && e->level[k].is_exclusive; k++) {
        uint16_t flags;

        drop(e, k, addr >> e->level[k].line_shift, phase, &flags);
    }
}

/* Hands a clean victim of the level inside to the exclusive level k. */
static void fill_clean(struct sim_full *e, size_t k, uint64_t line, struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    struct sim_full_place p = sim_full_level_find(l, line);

    assert(!sim_full_is_hit(p));
    r->cell->level[k].clean_fills++;
    classify(e, k, line, SIM_SHADOW_KEEP, false, r);
    put(e, k, line, p.row, r);
    claim(e, k + 1, line << l->line_shift, r->phase);
    send_victim(e, k, r);
}

/* Writes a dirty line of level k, leaving or cleaned, to level `to`. */
static void write_back(struct sim_full *e, size_t k, size_t to, uint64_t line, uint16_t flags, unsigned phase)
{
    const struct sim_full_level *l = &e->level[k];
    unsigned owner = flags & SIM_FULL_OWNER;
    struct write w = {
        .addr = line << l->line_shift,
        .bytes = l->line_bytes,
        .is_eviction = to == k + 1 && l->leaving == line,
    };

    sim_hierarchy_cell(&e->base, owner, phase)->level[k].write_backs++;
    e->level[k].leaving = SIM_FULL_NO_LINE;
    if (!k && e->follower)
        sim_full_note(e, SIM_FULL_WRITES, line, sim_full_run(owner, phase, 0), !w.is_eviction);
    if (l->is_like_next && to == k + 1)
        write_like(e, to, &w, owner, phase);
    else
        write_range(e, to, &w, owner, phase);
}

static void send_leaving(struct sim_full *e, size_t k, struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    uint64_t line = l->leaving;

    if (l->leaving_flags & SIM_FULL_DIRTY) {
        write_back(e, k, k + 1, line, l->leaving_flags, r->phase);
        return;
    }
    l->leaving = SIM_FULL_NO_LINE;
    if (k + 1 < e->n_levels && e->level[k + 1].is_exclusive)
        fill_clean(e, k + 1, line, r);
}

/* Notes a read miss of level k. */
static inline void go_past(struct sim_full_request *r, size_t k)
{
    r->source = r->source > k ? r->source : (uint32_t)(k + 1);
}

/* Notes a read of the first level. Earlier requests of the level's prefetchers precede the consequences of the read. */
static __attribute__((noinline)) void note_read(struct sim_full *e, uint64_t line, const struct sim_full_request *r,
                                                bool is_store)
{
    if (!r->is_prefetch)
        sim_full_note_asks(e);
    sim_full_note(e, SIM_FULL_READS, line, r->run,
                  (is_store ? SIM_FULL_BY_STORE : 0) | (r->is_prefetch ? SIM_FULL_BY_PREFETCH : 0) |
                      (r->is_instructed ? SIM_FULL_BY_INSTRUCTION : 0) | (r->is_walk ? SIM_FULL_BY_WALK : 0));
}

/* Prefetches, for the host, the row that will take the victim of put() at level k, if the level outside takes victims. */
static inline EACH_LEVEL void expect_leaving(struct sim_full *e, size_t k)
{
    const struct sim_full_level *l = &e->level[k];

    if (k && l->is_like_next && l->leaving != SIM_FULL_NO_LINE &&
        (e->level[k + 1].is_exclusive || l->leaving_flags & SIM_FULL_DIRTY))
        sim_full_level_expect(&e->level[k + 1], l->leaving);
}

/* Brings a line into a row of level k, victim included, and returns the line's place. */
static inline EACH_LEVEL struct sim_full_place bring(struct sim_full *e, size_t k, uint64_t line, uint64_t *row,
                                                     struct sim_full_request *r, uint16_t flags)
{
    struct sim_full_level *l = &e->level[k];
    struct sim_full_place p = { row, put(e, k, line, row, r) };

    expect_leaving(e, k);
    if (!k && e->follower)
        note_read(e, line, r, false);
    flags |= fetch(e, k + 1, line << l->line_shift, l->line_bytes, r);
    assert(*sim_full_level_line(p) == line);
    *sim_full_level_flags(l, p) = flags;
    send_victim(e, k, r);
    return p;
}

/*
 * A read at level k, counted and looked up by the caller. Returns the dirty flag and owner of a line from an exclusive
 * level.
 */
static inline EACH_LEVEL uint16_t read_found(struct sim_full *e, size_t k, uint64_t line, struct sim_full_place p,
                                             struct sim_full_request *r)
{
    const struct sim_full_level *l = &e->level[k];

    if (k && l->is_like_next && !sim_full_is_hit(p))
        sim_full_level_expect(&e->level[k + 1], line);
    classify(e, k, line, l->is_exclusive ? SIM_SHADOW_TAKE : SIM_SHADOW_KEEP, !sim_full_is_hit(p), r);
    show(e, k, line, p, r);
    if (sim_full_is_hit(p) && l->is_exclusive)
        return take_out(e, k, p, r->phase) & SIM_FULL_DATA;
    if (sim_full_is_hit(p)) {
        use(e, k, p, r);
        return 0;
    }
    r->cell->level[k].read_misses++;
    r->cell->level[k].ahead_misses += r->is_prefetch || r->is_walk;
    go_past(r, k);
    if (l->is_exclusive)
        return fetch(e, k + 1, line << l->line_shift, l->line_bytes, r);
    bring(e, k, line, p.row, r, 0);
    return 0;
}

static inline EACH_LEVEL uint16_t read_at(struct sim_full *e, size_t k, uint64_t line, struct sim_full_request *r)
{
    struct sim_full_place p = sim_full_level_find(&e->level[k], line);

    r->cell->level[k].reads++;
    return read_found(e, k, line, p, r);
}

static __attribute__((noinline)) uint16_t read_line(struct sim_full *e, size_t k, uint64_t line,
                                                    struct sim_full_request *r)
{
    return read_at(e, k, line, r);
}

/* Do the same at the levels of most machines, with constant level numbers. */
static __attribute__((noinline)) uint16_t read_second(struct sim_full *e, uint64_t line, struct sim_full_request *r)
{
    return read_at(e, 1, line, r);
}

static __attribute__((noinline)) uint16_t read_third(struct sim_full *e, uint64_t line, struct sim_full_request *r)
{
    return read_at(e, 2, line, r);
}

/* Does the same as fetch() from a level whose line size may differ, and from memory. */
static uint16_t fetch_lines(struct sim_full *e, size_t k, uint64_t addr, uint32_t bytes, struct sim_full_request *r)
{
    uint16_t flags = 0;
    unsigned shift;

    if (k == e->n_levels) {
        r->cell->memory_read_lines++;
        if (e->machine.memory_scattered_cycles > 0 && sim_full_is_scattered(e, addr >> e->level[k - 1].line_shift)) {
            r->cell->memory_scattered_lines += !r->is_instructed;
            r->cell->memory_scattered_ahead += r->is_prefetch && !r->is_instructed;
        }
        return 0;
    }
    shift = e->level[k].line_shift;
    for (uint64_t line = addr >> shift; line <= (addr + bytes - 1) >> shift; line++)
        flags |= read_line(e, k, line, r);
    return flags;
}

/* Brings the line of a write miss into a row of level k, and keeps the victim in `leaving`. Returns the line's way. */
static inline EACH_LEVEL int32_t allocate(struct sim_full *e, size_t k, uint64_t line, uint64_t *row,
                                          const struct write *w, struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    bool may_skip = !w->is_store || l->shape->no_full_store_fetch;
    uint64_t addr = line << l->line_shift;
    struct sim_full_place p = { row, put(e, k, line, row, r) };

    if (may_skip && w->bytes == l->line_bytes) {
        claim(e, k + 1, addr, r->phase);
        return p.way;
    }
    if (!k && e->follower)
        note_read(e, line, r, true);
    *sim_full_level_flags(l, p) = fetch(e, k + 1, addr, l->line_bytes, r);
    return p.way;
}

/* A write of (part of) a line at level k, counted and looked up by the caller. */
static inline EACH_LEVEL void write_found(struct sim_full *e, size_t k, uint64_t line, struct sim_full_place p,
                                          const struct write *w, struct sim_full_request *r)
{
    const struct sim_full_level *l = &e->level[k];
    bool allocates = l->is_exclusive ? w->is_eviction : !l->shape->no_write_allocate;
    bool is_hit = sim_full_is_hit(p);

    classify(e, k, line, allocates ? SIM_SHADOW_KEEP : SIM_SHADOW_REFRESH, !is_hit, r);
    if (!k)
        show(e, k, line, p, r);
    if (is_hit)
        use(e, k, p, r);
    else
        r->cell->level[k].write_misses++;
    if (!is_hit && allocates)
        p.way = allocate(e, k, line, p.row, w, r);
    if (sim_full_is_hit(p) && !l->shape->is_write_through) {
        uint16_t *flags = sim_full_level_flags(l, p);

        *flags = (uint16_t)((*flags & ~(unsigned)SIM_FULL_OWNER) | SIM_FULL_DIRTY | r->tag);
    } else {
        struct write rest = *w;

        rest.is_eviction = false;
        write_range(e, k + 1, &rest, r->tag, r->phase);
    }
    if (!is_hit && allocates)
        send_victim(e, k, r);
}

static void write_memory(struct sim_full *e, const struct write *w, struct sim_cell *cell)
{
    unsigned shift = e->level[e->n_levels - 1].line_shift;

    if (w->is_store) {
        cell->memory_stores++;
        cell->memory_store_bytes += w->bytes;
    } else {
        cell->memory_written_lines += ((w->addr + w->bytes - 1) >> shift) - (w->addr >> shift) + 1;
    }
}

/* Writes bytes within a line of level k. */
static inline EACH_LEVEL void write_part(struct sim_full *e, size_t k, const struct write *w,
                                         struct sim_full_request *r)
{
    uint64_t line = w->addr >> e->level[k].line_shift;
    struct sim_full_place p = sim_full_level_find(&e->level[k], line);

    r->cell->level[k].writes++;
    write_found(e, k, line, p, w, r);
}

static __attribute__((noinline)) void write_second(struct sim_full *e, const struct write *w,
                                                   struct sim_full_request *r)
{
    write_part(e, 1, w, r);
}

static __attribute__((noinline)) void write_third(struct sim_full *e, const struct write *w, struct sim_full_request *r)
{
    write_part(e, 2, w, r);
}

/* Writes a line of the level inside to level k, whose lines are as long. */
static void write_like(struct sim_full *e, size_t k, const struct write *w, unsigned tag, unsigned phase)
{
    struct sim_full_request r;

    sim_full_request_of(&r, e, tag, phase);
    if (k == 1)
        write_second(e, w, &r);
    else if (k == 2)
        write_third(e, w, &r);
    else
        write_part(e, k, w, &r);
}

/* Writes a range that does not wrap to level k, line by line. */
static void write_range(struct sim_full *e, size_t k, const struct write *w, unsigned tag, unsigned phase)
{
    struct sim_full_request r;
    uint64_t end = w->addr + w->bytes;

    sim_full_request_of(&r, e, tag, phase);
    if (k == e->n_levels) {
        write_memory(e, w, r.cell);
        return;
    }
    for (struct write part = *w; part.addr < end; part.addr += part.bytes) {
        uint64_t next = ((part.addr >> e->level[k].line_shift) + 1) << e->level[k].line_shift;

        part.bytes = (next < end ? next : end) - part.addr;
        write_part(e, k, &part, &r);
    }
}
