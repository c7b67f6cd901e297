#include "sim/full/engine_full_path.h"

#include <assert.h>

#include "sim/full/engine_full_prefetch.h"

/* Counts a prefetched line that leaves level k unused. */
static void note_unused(struct sim_full *e, size_t k, uint8_t flags, unsigned phase)
{
    if (flags & SIM_FULL_PREFETCHED)
        e->stats.cell[flags >> SIM_FULL_ASKER_SHIFT][phase].level[k].useless_prefetches++;
}

/* Counts the first use of a prefetched line. */
static void note_useful(struct sim_full *e, size_t k, const struct sim_full_place *p, const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    uint8_t *flags = sim_full_level_flags(l, p);
    struct sim_level_counts *c = &e->stats.cell[*flags >> SIM_FULL_ASKER_SHIFT][r->phase].level[k];

    c->useful_prefetches++;
    c->late_prefetches += l->is_late && !r->is_prefetch && *sim_full_level_due(l, p) > e->n_requests;
    *flags &= SIM_FULL_DATA;
}

/* A read or write found the line. */
static inline void use(struct sim_full *e, size_t k, const struct sim_full_place *p, const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];

    if (*sim_full_level_flags(l, p) & SIM_FULL_PREFETCHED)
        note_useful(e, k, p, r);
    sim_full_level_touch(l, p);
}

/* Whether a prefetcher of level k, which has some, may want to see a request. */
static inline bool is_watched(const struct sim_full_level *l, const struct sim_full_place *p)
{
    return !p->is_hit || l->watches_hits || *sim_full_level_flags(l, p) & SIM_FULL_PREFETCHED;
}

/* Takes a line that is there out of level k and returns its flags. */
static uint8_t take_out(struct sim_full *e, size_t k, const struct sim_full_place *p, unsigned phase)
{
    uint8_t flags = sim_full_level_remove(&e->level[k], p);

    note_unused(e, k, flags, phase);
    return flags;
}

bool sim_full_drop(struct sim_full *e, size_t k, uint64_t line, unsigned phase, uint8_t *flags)
{
    struct sim_full_level *l = &e->level[k];
    struct sim_full_place p = sim_full_level_find(l, line);

    if (p.is_hit) {
        *flags = take_out(e, k, &p, phase);
        return true;
    }
    if (l->leaving != line)
        return false;
    *flags = l->leaving_flags;
    l->leaving = SIM_FULL_NO_LINE;
    return true;
}

/* Throws out of all levels inside k what level k's victim covers; the victim's flags take up dirty copies. */
static void back_invalidate(struct sim_full *e, size_t k, const struct sim_full_request *r)
{
    const struct sim_full_level *l = &e->level[k];
    uint64_t addr = l->leaving << l->line_shift;

    for (size_t j = k; j-- > 0;) {
        unsigned shift = e->level[j].line_shift;

        for (uint64_t line = addr >> shift; line <= (addr + l->line_bytes - 1) >> shift; line++) {
            uint8_t flags;

            if (!sim_full_drop(e, j, line, r->phase, &flags))
                continue;
            r->cell->level[j].back_invalidations++;
            if (flags & SIM_FULL_DIRTY)
                e->level[k].leaving_flags = flags & SIM_FULL_DATA;
        }
    }
}

/* Puts a line that is not there into level k, clean; what it replaces is then leaving. */
static void put(struct sim_full *e, size_t k, uint64_t line, struct sim_full_place *p, const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];

    sim_full_level_insert(l, line, p);
    r->cell->level[k].lines_in++;
    if (l->leaving == SIM_FULL_NO_LINE)
        return;
    note_unused(e, k, l->leaving_flags, r->phase);
    l->leaving_flags &= SIM_FULL_DATA;
    if (l->is_inclusive)
        back_invalidate(e, k, r);
}

/* ---- requests on their way out ---- */

static uint8_t fetch(struct sim_full *e, size_t k, uint64_t addr, uint32_t bytes, struct sim_full_request *r);
static void write_range(struct sim_full *e, size_t k, const struct sim_full_write *w, unsigned tag, unsigned phase);
static void send_victim(struct sim_full *e, size_t k, struct sim_full_request *r);

/* A level took a line without reading it: exclusive levels just outside have it no more. */
static void claim(struct sim_full *e, size_t k, uint64_t addr, unsigned phase)
{
    for (; k < e->n_levels && e->level[k].is_exclusive; k++) {
        uint8_t flags;

        sim_full_drop(e, k, addr >> e->level[k].line_shift, phase, &flags);
    }
}

/* Hands a clean victim of the level inside to the exclusive level k. */
static void fill_clean(struct sim_full *e, size_t k, uint64_t line, struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    struct sim_full_place p = sim_full_level_find(l, line);

    assert(!p.is_hit);
    r->cell->level[k].clean_fills++;
    sim_full_classify(e, k, line, SIM_SHADOW_KEEP, false, r);
    put(e, k, line, &p, r);
    claim(e, k + 1, line << l->line_shift, r->phase);
    send_victim(e, k, r);
}

void sim_full_write_back(struct sim_full *e, size_t k, size_t to, uint64_t line, uint8_t flags, unsigned phase)
{
    const struct sim_full_level *l = &e->level[k];
    unsigned owner = flags & SIM_FULL_OWNER;
    struct sim_full_write w = {
        .addr = line << l->line_shift,
        .bytes = l->line_bytes,
        .is_eviction = to == k + 1 && l->leaving == line,
    };

    e->stats.cell[owner][phase].level[k].write_backs++;
    e->level[k].leaving = SIM_FULL_NO_LINE;
    write_range(e, to, &w, owner, phase);
}

/* Deals with what put() threw out of level k. */
static void send_victim(struct sim_full *e, size_t k, struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    uint64_t line = l->leaving;

    if (line == SIM_FULL_NO_LINE)
        return;
    if (l->leaving_flags & SIM_FULL_DIRTY) {
        sim_full_write_back(e, k, k + 1, line, l->leaving_flags, r->phase);
        return;
    }
    l->leaving = SIM_FULL_NO_LINE;
    if (k + 1 < e->n_levels && e->level[k + 1].is_exclusive)
        fill_clean(e, k + 1, line, r);
}

/* Notes that a read missed level k. */
static inline void go_past(struct sim_full_request *r, size_t k)
{
    r->source = r->source > k ? r->source : (uint32_t)(k + 1);
}

void sim_full_bring(struct sim_full *e, size_t k, uint64_t line, struct sim_full_place *p, struct sim_full_request *r,
                    uint8_t flags)
{
    struct sim_full_level *l = &e->level[k];

    put(e, k, line, p, r);
    flags |= fetch(e, k + 1, line << l->line_shift, l->line_bytes, r);
    assert(*sim_full_level_line(l, p) == line);
    *sim_full_level_flags(l, p) = flags;
    send_victim(e, k, r);
}

uint8_t sim_full_read_line(struct sim_full *e, size_t k, uint64_t line, struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    struct sim_full_place p = sim_full_level_find(l, line);

    sim_full_classify(e, k, line, l->is_exclusive ? SIM_SHADOW_TAKE : SIM_SHADOW_KEEP, !p.is_hit, r);
    if (l->prefetch && is_watched(l, &p))
        sim_full_watch(e, k, line, &p, r);
    if (p.is_hit && l->is_exclusive)
        return take_out(e, k, &p, r->phase) & SIM_FULL_DATA;
    if (p.is_hit) {
        use(e, k, &p, r);
        return 0;
    }
    r->cell->level[k].read_misses++;
    go_past(r, k);
    if (l->is_exclusive)
        return fetch(e, k + 1, line << l->line_shift, l->line_bytes, r);
    sim_full_bring(e, k, line, &p, r, 0);
    return 0;
}

/* Reads what a line of the level inside covers from level k. */
static uint8_t fetch(struct sim_full *e, size_t k, uint64_t addr, uint32_t bytes, struct sim_full_request *r)
{
    uint8_t flags = 0;
    unsigned shift;

    if (k == e->n_levels) {
        r->cell->memory_read_lines++;
        return 0;
    }
    if (e->level[k - 1].is_like_next) {
        r->cell->level[k].reads++;
        return sim_full_read_line(e, k, addr >> e->level[k].line_shift, r);
    }
    shift = e->level[k].line_shift;
    for (uint64_t line = addr >> shift; line <= (addr + bytes - 1) >> shift; line++) {
        r->cell->level[k].reads++;
        flags |= sim_full_read_line(e, k, line, r);
    }
    return flags;
}

/* Brings in the line of a write that missed level k, but leaves its victim where it is. */
static void allocate(struct sim_full *e, size_t k, uint64_t line, const struct sim_full_write *w,
                     struct sim_full_place *p, struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    bool may_skip = !w->is_store || l->shape->no_full_store_fetch;
    uint64_t addr = line << l->line_shift;

    put(e, k, line, p, r);
    if (may_skip && w->bytes == l->line_bytes)
        claim(e, k + 1, addr, r->phase);
    else
        *sim_full_level_flags(l, p) = fetch(e, k + 1, addr, l->line_bytes, r);
}

void sim_full_write_line(struct sim_full *e, size_t k, uint64_t line, const struct sim_full_write *w,
                         struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    struct sim_full_place p = sim_full_level_find(l, line);
    bool allocates = l->is_exclusive ? w->is_eviction : !l->shape->no_write_allocate;

    sim_full_classify(e, k, line, allocates ? SIM_SHADOW_KEEP : SIM_SHADOW_REFRESH, !p.is_hit, r);
    if (l->prefetch && !k && is_watched(l, &p))
        sim_full_watch(e, k, line, &p, r);
    if (p.is_hit)
        use(e, k, &p, r);
    else
        r->cell->level[k].write_misses++;
    if (!p.is_hit && allocates)
        allocate(e, k, line, w, &p, r);
    if ((p.is_hit || allocates) && !l->shape->is_write_through) {
        uint8_t *flags = sim_full_level_flags(l, &p);

        *flags = (uint8_t)((*flags & ~(unsigned)SIM_FULL_OWNER) | SIM_FULL_DIRTY | r->tag);
    } else {
        struct sim_full_write rest = *w;

        rest.is_eviction = false;
        write_range(e, k + 1, &rest, r->tag, r->phase);
    }
    if (!p.is_hit && allocates)
        send_victim(e, k, r);
}

static void write_memory(struct sim_full *e, const struct sim_full_write *w, struct sim_cell *cell)
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
static void write_range(struct sim_full *e, size_t k, const struct sim_full_write *w, unsigned tag, unsigned phase)
{
    struct sim_full_request r = sim_full_request_of(e, tag, phase);
    uint64_t end = w->addr + w->bytes;

    if (k == e->n_levels) {
        write_memory(e, w, r.cell);
        return;
    }
    for (struct sim_full_write part = *w; part.addr < end; part.addr += part.bytes) {
        uint64_t line = part.addr >> e->level[k].line_shift;
        uint64_t next = (line + 1) << e->level[k].line_shift;

        part.bytes = (next < end ? next : end) - part.addr;
        r.cell->level[k].writes++;
        sim_full_write_line(e, k, line, &part, &r);
    }
}
